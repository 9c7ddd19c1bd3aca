import { configFileName, envFileName, evaluate } from './evaluate.ts';
import type { ConfigTexts, LoadedConfig } from './evaluate.ts';
import { editEnvFile } from './edit-env-file.ts';
import { editYaml, parseValue } from './edit-yaml.ts';
import { findSetting, splitPath } from './find-setting.ts';
import type { FoundSetting } from './find-setting.ts';
import { prepareHome } from './home.ts';
import { configFiles } from './load-config.ts';
import type { LoadOptions } from './load-config.ts';
import { parseYaml } from './parse-yaml.ts';
import { formatPath } from './problem.ts';
import type { Problem } from './problem.ts';
import { readConfigFile } from './read-config-file.ts';
import { factsOf } from './schema.ts';
import type { Section } from './section.ts';
import { writeAtomically } from './write-atomically.ts';

export interface SetOptions extends LoadOptions<readonly Section[]> {
  readonly path: string;
  /** As typed; undefined removes the setting. */
  readonly value: string | undefined;
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
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Changes one setting on disk, or nothing at all: the result is checked first, and a secret goes to `.env` when it has a variable. */
export const setSetting = async (options: SetOptions): Promise<SetOutcome> => {
  await prepareHome(options.home);
  const paths = configFiles(options.home);
  const [config, env] = await Promise.all([readConfigFile(paths.config), readConfigFile(paths.env)]);
  const unreadable = [config, env].flatMap((file) => (file.kind === 'unreadable' ? [file.problem] : []));
  if (unreadable.length > 0) return { ok: false, problems: unreadable };
  const before = { config: config.kind === 'text' ? config.text : undefined, env: env.kind === 'text' ? env.text : undefined };
  const parsed = parseYaml(before.config ?? '', configFileName);
  if (!parsed.ok) return { ok: false, problems: parsed.problems };

  const path = splitPath(options.path);
  if (path.includes('')) return refusal(path, 'is not a path; write it like platforms.telegram.allowed_users');
  const setting = findSetting(path, options.sections, options.platforms);
  const edit = editTexts(before, path, { setting, value: options.value });
  if ('message' in edit) return refusal(path, edit.message);
  const fresh = newProblems(evaluate(options, before).config, evaluate(options, edit.texts).config);
  const missing = fresh.filter((problem) => problem.code === 'missing' && problem.path.startsWith('platforms.'));
  const serious = fresh.filter((problem) => !missing.includes(problem));
  if (serious.length > 0) return { ok: false, problems: serious };

  const changes = [
    { name: configFileName, path: paths.config, old: before.config, text: edit.texts.config },
    { name: envFileName, path: paths.env, old: before.env, text: edit.texts.env },
  ].filter(({ old, text }) => old !== text);
  for (const change of changes) {
    if (!(await replaceFile(change))) return refusal(path, `${change.name} was changed by somebody else at the same moment; try again`);
  }
  return {
    ok: true,
    files: changes.map(({ name }) => name),
    variable: setting?.secret === true ? setting.variable : undefined,
    secret: setting?.secret ?? false,
    overridden: setting?.variable !== undefined && (options.env[setting.variable] ?? '') !== '',
    missing,
  };
};

const replaceFile = async (change: { readonly path: string; readonly old: string | undefined; readonly text: string | undefined }): Promise<boolean> => {
  const now = await readConfigFile(change.path);
  if ((now.kind === 'text' ? now.text : undefined) !== change.old) return false;
  await writeAtomically(change.path, change.text ?? '');
  return true;
};

const refusal = (path: readonly string[], message: string): SetOutcome => ({ ok: false, problems: [{ code: 'invalid', path: formatPath(path), message }] });

type Edit = { readonly texts: ConfigTexts } | { readonly message: string };

const editTexts = (before: ConfigTexts, path: readonly string[], change: { readonly setting: FoundSetting | undefined; readonly value: string | undefined }): Edit => {
  const { setting, value } = change;
  const variable = setting?.secret === true ? setting.variable : undefined;
  if (value !== undefined && variable !== undefined) return { texts: { ...before, env: editEnvFile(before.env ?? '', variable, value) } };
  if (value !== undefined) {
    const edited = editYaml(before.config ?? '', path, parseValue(value, isText(setting)));
    return edited.ok ? { texts: { ...before, config: edited.text } } : edited;
  }
  const env = variable === undefined || before.env === undefined ? before.env : editEnvFile(before.env, variable, undefined);
  const edited = editYaml(before.config ?? '', path, undefined);
  if (!edited.ok && env === before.env) return edited;
  return { texts: { env, config: edited.ok ? edited.text : before.config } };
};

const isText = (setting: FoundSetting | undefined): boolean => setting !== undefined && factsOf(setting.schema).core._zod.def.type === 'string';

const problemsOf = (config: LoadedConfig): readonly Problem[] => (config.ok ? config.disabled.flatMap(({ problems }) => problems) : config.problems);

/** What is wrong now and was not before; without a place, since it would be in a text that nobody has seen. */
const newProblems = (before: LoadedConfig, after: LoadedConfig): readonly Problem[] => {
  const old = new Set(problemsOf(before).map(({ path, message }) => `${path}\n${message}`));
  return problemsOf(after)
    .filter(({ path, message }) => !old.has(`${path}\n${message}`))
    .map(({ line: _line, column: _column, file: _file, variable: _variable, ...problem }) => problem);
};
