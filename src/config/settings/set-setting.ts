import { listAt } from '../text/edit-yaml.ts';
import type { ConfigTexts, LoadedConfig } from '../evaluate.ts';
import { editTexts, newProblems, readTexts, writeTexts } from '../text/config-texts.ts';
import { findSetting, splitPath } from './find-setting.ts';
import type { LoadOptions } from '../load-config.ts';
import { whileConfigLocked } from '../upkeep/lock-config.ts';
import { formatPath } from '../problem.ts';
import type { Problem } from '../problem.ts';
import { evaluateWithSecrets } from '../secrets/read-secrets.ts';
import type { Section } from '../section.ts';

export interface SetOptions extends LoadOptions<readonly Section[]> {
  readonly path: string;
  /** As typed; undefined removes the setting. What depends on what is in force is made from that, so that no other change comes in between. */
  readonly value: string | undefined | ((before: LoadedConfig) => string | undefined);
}

export type SetOutcome =
  | {
      readonly ok: true;
      /** Names of the files that were written; none when nothing had to change. */
      readonly files: readonly string[];
      /** The variable that holds the secret now. */
      readonly variable: string | undefined;
      readonly secret: boolean;
      /** The environment sets the same variable and wins over what was written. */
      readonly overridden: boolean;
      /** What the account still needs before it can run. */
      readonly missing: readonly Problem[];
      /** What stood in the list that was replaced, and does not any more. */
      readonly dropped?: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Changes one setting on disk, or nothing at all: the result is checked first, and a secret goes to `.env` when it has a variable. */
export const setSetting = (options: SetOptions): Promise<SetOutcome> => whileConfigLocked(options.home, () => change(options));

const change = async (options: SetOptions): Promise<SetOutcome> => {
  const read = await readTexts(options.home);
  if (!read.ok) return read;
  const before = read.texts;
  const path = splitPath(options.path);
  if (path.includes('')) return refusal(path, 'is not a path; write it like platforms.telegram.allowed_users');
  const setting = findSetting(path, options.sections, options.platforms);
  const was = await evaluateWithSecrets(options, before);
  const edit = editTexts(before, { path, setting, value: typeof options.value === 'function' ? options.value(was.config) : options.value });
  if (!edit.ok) return refusal(path, edit.message);
  const is = await evaluateWithSecrets({ ...options, secrets: was.secrets }, edit.texts);
  const { missing, serious } = newProblems(was.config, is.config);
  if (serious.length > 0) return { ok: false, problems: serious };
  const written = await writeTexts(options.home, { before, after: edit.texts });
  if (!written.ok) return refusal(path, `${written.changed} was changed by somebody else at the same moment; try again`);
  const dropped = setting?.secret === true ? [] : droppedFrom(before, edit.texts, path);
  return {
    ok: true,
    files: written.files,
    variable: setting?.secret === true ? setting.variable : undefined,
    secret: setting?.secret ?? false,
    overridden: setting?.variable !== undefined && (options.env[setting.variable] ?? '') !== '',
    missing,
    ...(dropped.length > 0 && { dropped }),
  };
};

/** None of a secret, and none when the whole list was to go. */
const droppedFrom = (before: ConfigTexts, after: ConfigTexts, path: readonly string[]): readonly string[] => {
  const kept = new Set(listAt(after.config ?? '', path));
  return kept.size === 0 ? [] : (listAt(before.config ?? '', path) ?? []).filter((entry) => !kept.has(entry));
};

const refusal = (path: readonly string[], message: string): SetOutcome => ({ ok: false, problems: [{ code: 'invalid', path: formatPath(path), message }] });
