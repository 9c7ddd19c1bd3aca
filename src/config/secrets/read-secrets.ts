import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { evaluate } from '../evaluate.ts';
import type { ConfigInput, ConfigTexts, Evaluation } from '../evaluate.ts';
import { readConfigFile } from '../text/read-config-file.ts';
import { readingOf } from './run-secret-command.ts';
import { newSecretCommands } from './secret-commands.ts';
import type { SecretCommands } from './secret-commands.ts';
import type { Section } from '../section.ts';
import { sourceKey } from './secret-source.ts';
import type { SecretReading, SecretReadings, SecretSource } from './secret-source.ts';

/** Containers mount secrets readable for all, and nobody else is in there. */
const isMounted = (path: string): boolean => dirname(path) === '/run/secrets';

const readFileSource = async (path: string): Promise<SecretReading> => {
  const file = await readConfigFile(path);
  if (file.kind === 'missing') return { ok: false, message: `the file ${path} does not exist` };
  if (file.kind === 'unreadable') return { ok: false, message: `the file ${path} ${file.problem.message}` };
  return readingOf(file.text, { name: `the file ${path}`, exposed: process.platform !== 'win32' && (file.mode & 0o004) !== 0 && !isMounted(path) });
};

const readSource = (source: SecretSource, input: Pick<ConfigInput<readonly Section[]>, 'env' | 'home'> & { readonly commands: SecretCommands }): Promise<SecretReading> =>
  source.kind === 'file' ? readFileSource(source.path) : input.commands.run(source.command, { cwd: input.home !== undefined && existsSync(input.home) ? input.home : undefined, env: input.env });

/** What `evaluate` answers once the files and commands that hold secrets have been asked; each is asked once. */
export const evaluateWithSecrets = async <const Sections extends readonly Section[]>(input: ConfigInput<Sections>, texts: ConfigTexts): Promise<Evaluation<Sections> & { readonly secrets: SecretReadings }> => {
  const secrets = new Map<string, SecretReading>(input.secrets);
  const { commands = newSecretCommands() } = input;
  for (;;) {
    const evaluation = evaluate({ ...input, secrets }, texts);
    const unread = evaluation.sources.filter((source) => !secrets.has(sourceKey(source)));
    if (unread.length === 0) return { ...evaluation, secrets };
    const read = await Promise.all(unread.map(async (source) => [sourceKey(source), await readSource(source, { ...input, commands })] as const));
    for (const [key, reading] of read) secrets.set(key, reading);
  }
};
