import { join } from 'node:path';
import { configFileName, envFileName, evaluate } from './evaluate.ts';
import type { ConfigInput, LoadedConfig } from './evaluate.ts';
import type { Problem } from './problem.ts';
import { evaluateWithSecrets } from './secrets/read-secrets.ts';
import type { Section, SectionValues } from './section.ts';
import { readConfigFile } from './text/read-config-file.ts';
import type { ConfigFile } from './text/read-config-file.ts';

export interface LoadOptions<Sections extends readonly Section[]> extends ConfigInput<Sections> {
  readonly home: string;
}

export type LoadedFiles<Sections extends readonly Section[]> = LoadedConfig<Sections> & { /** Absolute paths of files that hold one secret each. */ readonly secretFiles: readonly string[] };

export const configFiles = (home: string): { readonly config: string; readonly env: string } => ({ config: join(home, configFileName), env: join(home, envFileName) });

/** Reads `config.yaml`, `.env`, the environment and the secrets that stand elsewhere. Missing files are fine; nothing that is written in them makes it reject. */
export const loadConfig = async <const Sections extends readonly Section[]>(options: LoadOptions<Sections>): Promise<LoadedFiles<Sections>> => {
  const paths = configFiles(options.home);
  const [config, env] = await Promise.all([readConfigFile(paths.config), readConfigFile(paths.env)]);
  const unreadable = [config, env].flatMap((file) => (file.kind === 'unreadable' ? [file.problem] : []));
  const { config: loaded, holdsSecret, sources } = await evaluateWithSecrets(options, { config: textOf(config), env: textOf(env) });
  const warnings = [...loaded.warnings, ...exposed(config, configFileName, holdsSecret.config), ...exposed(env, envFileName, holdsSecret.env)];
  const secretFiles = sources.flatMap((source) => (source.kind === 'file' ? [source.path] : []));
  if (unreadable.length > 0) return { ok: false, problems: unreadable, warnings, secretFiles };
  return { ...loaded, warnings, secretFiles };
};

/** Sections that can be read without asking a file or a command for a secret. None when the files cannot be used, as far as that shows without asking. */
export const loadAlone = async <const Sections extends readonly Section[]>(options: LoadOptions<Sections>): Promise<Partial<SectionValues<Sections>>> => {
  const paths = configFiles(options.home);
  const [config, env] = await Promise.all([readConfigFile(paths.config), readConfigFile(paths.env)]);
  if (config.kind === 'unreadable' || env.kind === 'unreadable') return {};
  return evaluate(options, { config: textOf(config), env: textOf(env) }).alone;
};

const textOf = (file: ConfigFile): string | undefined => (file.kind === 'text' ? file.text : undefined);

const exposed = (file: ConfigFile, name: string, holdsSecret: boolean): readonly Problem[] => {
  if (file.kind !== 'text' || !holdsSecret || process.platform === 'win32' || (file.mode & 0o044) === 0) return [];
  return [{ code: 'exposed', file: name, path: '', message: `holds secrets and can be read by other users of this machine; run: chmod 600 ${name}` }];
};
