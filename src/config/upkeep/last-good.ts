import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { configFileName, envFileName } from '../evaluate.ts';
import type { ConfigInput, ValidConfig } from '../evaluate.ts';
import { configFiles, loadConfig } from '../load-config.ts';
import type { LoadOptions } from '../load-config.ts';
import type { Problem } from '../problem.ts';
import { readConfigFile } from '../text/read-config-file.ts';
import { evaluateWithSecrets } from '../secrets/read-secrets.ts';
import type { Section } from '../section.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';

/** Among the backups, which no agent may read. */
const folderOf = (home: string): string => join(home, 'backups', 'last-good');

const textOf = async (path: string): Promise<string | undefined> => {
  const file = await readConfigFile(path);
  return file.kind === 'text' ? file.text : undefined;
};

const textsIn = async (folder: string): Promise<{ readonly config: string | undefined; readonly env: string | undefined }> => ({ config: await textOf(join(folder, configFileName)), env: await textOf(join(folder, envFileName)) });

const keep = async (path: string, text: string | undefined): Promise<void> => {
  if (text === undefined) await rm(path, { force: true });
  else if ((await textOf(path)) !== text) await writeAtomically(path, text);
};

/** Keeps the files as they are now, if a gateway can run with them, for a start at which they cannot be used any more. */
export const keepLastGood = async (options: LoadOptions<readonly Section[]>): Promise<void> => {
  const paths = configFiles(options.home);
  const texts = { config: await textOf(paths.config), env: await textOf(paths.env) };
  if (!(await evaluateWithSecrets(options, texts)).config.ok) return;
  const folder = folderOf(options.home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // First what the other refers to.
  await keep(join(folder, envFileName), texts.env);
  await keep(join(folder, configFileName), texts.config ?? '');
};

/** When a configuration was kept last; rejects when none was. */
export const lastKeptMs = async (home: string): Promise<number> => (await stat(join(folderOf(home), configFileName))).mtimeMs;

export interface LastGood<Sections extends readonly Section[]> {
  readonly config: ValidConfig<Sections>;
  readonly keptAtMs: number;
}

/** The configuration that was kept last, if there is one and it can be used by this version. */
export const readLastGood = async <const Sections extends readonly Section[]>(options: ConfigInput<Sections> & { readonly home: string }): Promise<LastGood<Sections> | undefined> => {
  const folder = folderOf(options.home);
  const texts = await textsIn(folder);
  if (texts.config === undefined) return undefined;
  const { config } = await evaluateWithSecrets(options, texts);
  return config.ok ? { config, keptAtMs: await lastKeptMs(options.home) } : undefined;
};

export type Startable<Sections extends readonly Section[]> =
  | { readonly type: 'current'; readonly config: ValidConfig<Sections> }
  | { readonly type: 'last_good'; readonly config: ValidConfig<Sections>; readonly keptAtMs: number; /** Why the current one is not used. */ readonly problems: readonly Problem[] }
  | { readonly type: 'none'; readonly problems: readonly Problem[] };

/** The configuration of the files, or else the last one that could be used. */
export const startableConfig = async <const Sections extends readonly Section[]>(options: LoadOptions<Sections>): Promise<Startable<Sections>> => {
  const current = await loadConfig(options);
  if (current.ok) return { type: 'current', config: current };
  const last = await readLastGood(options);
  return last === undefined ? { type: 'none', problems: current.problems } : { type: 'last_good', ...last, problems: current.problems };
};
