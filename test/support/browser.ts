import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executable = async (): Promise<string> => {
  const named = process.env['CHROMIUM_PATH'];
  if (named !== undefined) return named;
  if (process.platform === 'linux' && process.arch === 'x64') {
    const bundled = await import('@sparticuz/chromium');
    return bundled.default.executablePath();
  }
  const found = installed.find((path) => existsSync(path));
  if (found === undefined) throw new Error('no Chromium: set CHROMIUM_PATH to one');
  return found;
};

/** A real browser without a window. */
export const launchBrowser = async (): Promise<Browser> => {
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath: await executable(), headless: true, args: [...(isRoot ? ['--no-sandbox'] : []), '--font-render-hinting=none'] });
};
