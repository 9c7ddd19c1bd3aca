import { configFileName, envFileName } from '../evaluate.ts';
import type { ConfigTexts, LoadedConfig } from '../evaluate.ts';
import { editEnvFile } from './edit-env-file.ts';
import { commentKey, editYaml, parseValue } from './edit-yaml.ts';
import type { FoundSetting } from '../settings/find-setting.ts';
import { configFiles } from '../load-config.ts';
import { parseEnvFile } from './parse-env-file.ts';
import { parseYaml } from './parse-yaml.ts';
import type { Problem } from '../problem.ts';
import { readConfigFile } from './read-config-file.ts';
import { factsOf } from '../schema.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';

export type ReadTexts = { readonly ok: true; readonly texts: ConfigTexts } | { readonly ok: false; readonly problems: readonly Problem[] };

/** The two files as they are, if they can be edited. */
export const readTexts = async (home: string): Promise<ReadTexts> => {
  const paths = configFiles(home);
  const [config, env] = await Promise.all([readConfigFile(paths.config), readConfigFile(paths.env)]);
  const unreadable = [config, env].flatMap((file) => (file.kind === 'unreadable' ? [file.problem] : []));
  if (unreadable.length > 0) return { ok: false, problems: unreadable };
  const texts = { config: config.kind === 'text' ? config.text : undefined, env: env.kind === 'text' ? env.text : undefined };
  const parsed = parseYaml(texts.config ?? '', configFileName);
  return parsed.ok ? { ok: true, texts } : { ok: false, problems: parsed.problems };
};

export interface SettingEdit {
  readonly path: readonly string[];
  /** What the schemas know about the path. */
  readonly setting: FoundSetting | undefined;
  /** As typed; undefined removes the setting. */
  readonly value: string | undefined;
  /** Explains the setting to whoever reads the file, if it was not there before. */
  readonly comment?: string;
}

export type EditedTexts = { readonly ok: true; readonly texts: ConfigTexts } | { readonly ok: false; readonly message: string };

/** A secret goes to `.env` when it has a variable; one that only refers to a variable stands in config.yaml. */
const variableFor = ({ setting, value }: SettingEdit): string | undefined => (setting?.secret === true && !isReference(value) ? setting.variable : undefined);

const isReference = (value: string | undefined): boolean => value !== undefined && /^\$\{[A-Za-z_]\w*\}$/.test(value);

/** The texts with one setting changed and everything else as it was. */
export const editTexts = (before: ConfigTexts, edit: SettingEdit): EditedTexts => {
  const variable = variableFor(edit);
  if (edit.value === undefined) return removeSetting(before, edit, variable);
  if (variable !== undefined) return { ok: true, texts: { ...before, env: setVariable(before.env, { name: variable, value: edit.value, comment: edit.comment }) } };
  const edited = editYaml(before.config ?? '', edit.path, parseValue(edit.value, isText(edit.setting)));
  if (!edited.ok) return edited;
  if (edit.comment === undefined || hasKey(before.config ?? '', edit.path)) return { ok: true, texts: { ...before, config: edited.text } };
  const apart = !hasKey(before.config ?? '', edit.path.slice(0, 1));
  return { ok: true, texts: { ...before, config: commentKey(edited.text, edit.path, { comment: edit.comment, apart }) } };
};

/** The text of `.env` with a variable set, in its old place if it had one. */
export const setVariable = (text: string | undefined, variable: { readonly name: string; readonly value: string; readonly comment?: string | undefined }): string => {
  const old = text ?? '';
  const isNew = !parseEnvFile(old, envFileName, () => '').entries.some(({ name }) => name === variable.name);
  const gap = old === '' || old.endsWith('\n') ? '' : '\n';
  const begun = variable.comment !== undefined && isNew ? `${old}${gap}# ${variable.comment}\n` : old;
  return editEnvFile(begun, variable.name, variable.value);
};

const removeSetting = (before: ConfigTexts, edit: SettingEdit, variable: string | undefined): EditedTexts => {
  const env = variable === undefined || before.env === undefined ? before.env : editEnvFile(before.env, variable, undefined);
  const edited = editYaml(before.config ?? '', edit.path, undefined);
  if (!edited.ok && env === before.env) return edited;
  return { ok: true, texts: { env, config: edited.ok ? edited.text : before.config } };
};

const isText = (setting: FoundSetting | undefined): boolean => setting !== undefined && factsOf(setting.schema).core._zod.def.type === 'string';

const hasKey = (text: string, path: readonly string[]): boolean => editYaml(text, path, undefined).ok;

const problemsOf = (config: LoadedConfig): readonly Problem[] => (config.ok ? config.disabled.flatMap(({ problems }) => problems) : config.problems);

export interface NewProblems {
  /** What an account still needs before it can run. */
  readonly missing: readonly Problem[];
  readonly serious: readonly Problem[];
}

/** What is wrong now and was not before; without a place, since it would be in a text that nobody has seen. */
export const newProblems = (before: LoadedConfig, after: LoadedConfig): NewProblems => {
  const old = new Set(problemsOf(before).map(({ path, message }) => `${path}\n${message}`));
  const fresh = problemsOf(after)
    .filter(({ path, message }) => !old.has(`${path}\n${message}`))
    .map(({ line: _line, column: _column, file: _file, variable: _variable, ...problem }) => problem);
  const missing = fresh.filter((problem) => problem.code === 'missing' && problem.path.startsWith('platforms.'));
  return { missing, serious: fresh.filter((problem) => !missing.includes(problem)) };
};

export type WrittenTexts = { readonly ok: true; /** Names. */ readonly files: readonly string[] } | { readonly ok: false; readonly changed: string };

/** Writes what differs. A file that somebody else has changed since it was read is left alone; `backUp` gets the old text first. */
export const writeTexts = async (home: string, texts: { readonly before: ConfigTexts; readonly after: ConfigTexts }, backUp?: (name: string, text: string) => Promise<void>): Promise<WrittenTexts> => {
  const paths = configFiles(home);
  // First what the other refers to: a gateway that runs reads them in between.
  const changes = [
    { name: envFileName, path: paths.env, old: texts.before.env, text: texts.after.env },
    { name: configFileName, path: paths.config, old: texts.before.config, text: texts.after.config },
  ].filter(({ old, text }) => old !== text);
  for (const { name, path, old } of changes) {
    const now = await readConfigFile(path);
    if ((now.kind === 'text' ? now.text : undefined) !== old) return { ok: false, changed: name };
  }
  for (const { name, path, old, text } of changes) {
    if (old !== undefined) await backUp?.(name, old);
    await writeAtomically(path, text ?? '');
  }
  return { ok: true, files: changes.map(({ name }) => name) };
};
