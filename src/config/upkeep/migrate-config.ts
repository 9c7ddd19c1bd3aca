import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newRedactor } from '../../lib/redact.ts';
import { lineDiff } from '../../lib/line-diff.ts';
import { readTexts, writeTexts } from '../text/config-texts.ts';
import { moveKey } from '../text/edit-yaml.ts';
import { configFileName } from '../evaluate.ts';
import type { LoadOptions } from '../load-config.ts';
import { whileConfigLocked } from './lock-config.ts';
import { parseYaml } from '../text/parse-yaml.ts';
import type { Problem } from '../problem.ts';
import { maskNamed } from '../secrets/mask-named.ts';
import { evaluateWithSecrets } from '../secrets/read-secrets.ts';
import { retireKeys } from './retirements.ts';
import type { Retirement } from './retirements.ts';
import type { Section } from '../section.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';

export interface MigratedText {
  readonly text: string;
  readonly moved: readonly Pick<Retirement, 'from' | 'to'>[];
}

/** config.yaml as it would be written today; undefined when it cannot be read or edited. Everything that has not moved stays as it is. */
export const migrateText = (text: string): MigratedText | undefined => {
  const parsed = parseYaml(text, configFileName);
  if (!parsed.ok) return undefined;
  const { retired } = retireKeys(parsed.root);
  let migrated = text;
  for (const retirement of retired) {
    const edited = moveKey(migrated, retirement);
    if (!edited.ok) return undefined;
    migrated = edited.text;
  }
  return { text: migrated, moved: retired.map(({ from, to }) => ({ from, to })) };
};

export type Migration =
  | { readonly type: 'nothing' }
  | { readonly type: 'migrated'; readonly moved: MigratedText['moved']; /** Secrets masked. */ readonly diff: readonly string[]; /** The old file; undefined when nothing was written. */ readonly kept: string | undefined }
  | { readonly type: 'refused'; readonly problems: readonly Problem[] };

/** Which keys moved, and where to. */
export const movedText = (moved: MigratedText['moved']): string => moved.map(({ from, to }) => `${from.join('.')} -> ${to.join('.')}`).join(', ');

const refused = (message: string): Migration => ({ type: 'refused', problems: [{ code: 'invalid', file: configFileName, path: '', message }] });

type MigrateOptions = LoadOptions<readonly Section[]> & { readonly dryRun: boolean; readonly nowMs: number };

/** Puts keys that have moved into their new places; the old file is kept among the backups. With `dryRun` nothing is written. */
export const migrateConfig = async (options: MigrateOptions): Promise<Migration> => {
  const planned = await migrate({ ...options, dryRun: true });
  return options.dryRun || planned.type !== 'migrated' ? planned : whileConfigLocked(options.home, () => migrate(options));
};

const migrate = async (options: MigrateOptions): Promise<Migration> => {
  const read = await readTexts(options.home);
  if (!read.ok) return { type: 'refused', problems: read.problems };
  const before = read.texts;
  const migrated = migrateText(before.config ?? '');
  if (migrated === undefined) return refused('cannot be edited; move the keys by hand');
  if (migrated.moved.length === 0) return { type: 'nothing' };
  const after = { ...before, config: migrated.text };
  const redactor = newRedactor();
  const { config: is, secrets } = await evaluateWithSecrets({ ...options, redactor }, after);
  // Never from a file that works to one that does not.
  if (!is.ok && (await evaluateWithSecrets({ ...options, secrets }, before)).config.ok) return { type: 'refused', problems: is.problems };
  const diff = lineDiff(before.config ?? '', migrated.text).map((line) => maskNamed(redactor.redact(line)));
  if (options.dryRun) return { type: 'migrated', moved: migrated.moved, diff, kept: undefined };
  const kept = join(options.home, 'backups', `config-${new Date(options.nowMs).toISOString().replaceAll(/[-:.]/g, '')}.yaml`);
  const written = await writeTexts(options.home, { before, after }, async (_name, text) => {
    await mkdir(dirname(kept), { recursive: true, mode: 0o700 });
    await writeAtomically(kept, text);
  });
  return written.ok ? { type: 'migrated', moved: migrated.moved, diff, kept } : refused(`${written.changed} was changed by somebody else at the same moment; try again`);
};
