import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import { Hooks } from './hooks.ts';
import type { LoadDeps } from './load-hooks.ts';

export { until } from '../../test/support/until.ts';

export interface TestFolder extends AsyncDisposable {
  readonly path: string;
  /** Writes a hook: its manifest as JSON, which is YAML as well, with time enough for a slow machine, and its handler. Answers its folder. */
  hook(name: string, manifest: object | string, handler?: { readonly file: string; readonly code: string; readonly mode?: number }): Promise<string>;
}

export const newTestFolder = async (): Promise<TestFolder> => {
  const path = await mkdtemp(join(tmpdir(), 'hermes-hooks-'));
  return {
    path,
    async hook(name, manifest, handler) {
      const folder = join(path, name);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'HOOK.yaml'), typeof manifest === 'string' ? manifest : JSON.stringify({ timeout: 10, ...manifest }));
      if (handler !== undefined) await writeFile(join(folder, handler.file), handler.code, { mode: handler.mode ?? 0o644 });
      return folder;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
};

/** A program in the shell. */
export const sh = (code: string) => ({ file: 'handler', code: `#!/bin/sh\n${code}\n`, mode: 0o755 });

export const ts = (code: string) => ({ file: 'handler.ts', code });

export const bareEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin' };

export interface TestHooks extends AsyncDisposable {
  readonly hooks: Hooks;
  readonly lines: readonly string[];
}

/** Hooks of a folder, loaded. */
export const startHooks = async (folders: LoadDeps['folders'], more: Partial<LoadDeps> & { readonly clock?: Clock } = {}): Promise<TestHooks> => {
  const { log, lines } = capturingLogger();
  const hooks = new Hooks({ folders, webhooks: () => ({}), builtins: [], clock: systemClock, log, fetch, childEnvironment: () => bareEnvironment, redact: (text) => text, ...more });
  await hooks.start();
  return { hooks, lines, [Symbol.asyncDispose]: () => hooks.stop() };
};
