import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Unpacks the bundled browser, once per user: what another user has unpacked in the common temporary folder cannot be run. */
const unpacked = async (): Promise<string> => {
  const folder = join(tmpdir(), `hermes-test-chromium-${process.getuid?.() ?? 0}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    const bundled = await import('@sparticuz/chromium');
    return await bundled.default.executablePath();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
};

const executable = async (): Promise<string> => {
  const named = process.env['CHROMIUM_PATH'];
  if (named !== undefined) return named;
  if (process.platform === 'linux' && process.arch === 'x64') return unpacked();
  const found = installed.find((path) => existsSync(path));
  if (found === undefined) throw new Error('no Chromium: set CHROMIUM_PATH to one');
  return found;
};

/** A real browser without a window. */
export const launchBrowser = async (): Promise<Browser> => {
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath: await executable(), headless: true, timeout: 110_000, args: [...(isRoot ? ['--no-sandbox'] : []), '--font-render-hinting=none'] });
};
