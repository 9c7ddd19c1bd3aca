import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { editTexts, newProblems, readTexts, setVariable, writeTexts } from '../../config/text/config-texts.ts';
import type { NewProblems } from '../../config/text/config-texts.ts';
import { editYaml, parseValue } from '../../config/text/edit-yaml.ts';
import { configFileName, envFileName, evaluate } from '../../config/evaluate.ts';
import type { ConfigTexts, LoadedConfig } from '../../config/evaluate.ts';
import { findSetting, splitPath } from '../../config/settings/find-setting.ts';
import { whileConfigLocked } from '../../config/upkeep/lock-config.ts';
import { parseEnvFile } from '../../config/text/parse-env-file.ts';
import { parseYaml } from '../../config/text/parse-yaml.ts';
import { formatProblem } from '../../config/problem.ts';
import { evaluateWithSecrets } from '../../config/secrets/read-secrets.ts';
import { factsOf } from '../../config/schema.ts';
import type { SecretCommands } from '../../config/secrets/secret-commands.ts';
import type { SecretReadings } from '../../config/secrets/secret-source.ts';
import { childOf } from '../../config/settings/setting-node.ts';
import type { Environment } from '../../config/variables.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';
import { ConfigError } from '../../core/errors.ts';
import type { Redactor } from '../../lib/redact.ts';
import { platforms } from '../../platforms/registry.ts';
import { sections } from '../configuration/settings.ts';
import type { Config } from '../configuration/settings.ts';

export interface Change {
  /** As in `hermes config set`. */
  readonly path: string;
  /** Undefined removes the setting. */
  readonly value: string | undefined;
  /** Concerns config.yaml alone: a secret in `.env` stays where it is. */
  readonly inConfigOnly?: true;
  /** A variable that the value refers to, for `.env`. */
  readonly keep?: { readonly name: string; readonly value: string; readonly comment: string };
}

export interface DraftOptions {
  readonly home: string;
  readonly env: Environment;
  readonly redactor: Redactor;
  readonly commands?: SecretCommands | undefined;
}

export interface WrittenFiles {
  /** Whole paths. */
  readonly files: readonly string[];
  readonly backups: readonly string[];
}

const configHead = `# Settings of the Hermes gateway. Edit them as you like: comments stay, and changes are taken over while it runs.
# hermes config check says what is wrong, hermes config show what is in force. Secrets are in .env beside this file.
`;
const envHead = '# Secrets of the Hermes gateway. Nobody but you may read this file (mode 0600).\n\n';

/** The first sentence of a setting's description; the rest stands in the documentation. */
const explanation = (path: readonly string[]): string | undefined => {
  const setting = findSetting(path, sections, platforms);
  return setting === undefined ? undefined : factsOf(setting.schema).description?.split(/(?<=\.)\s/)[0];
};

const isBlank = (text: string | undefined): boolean => (text ?? '').trim() === '';

const begun = (texts: ConfigTexts, edited: ConfigTexts): ConfigTexts => ({
  config: isBlank(texts.config) && !isBlank(edited.config) ? `${configHead}\n${edited.config ?? ''}` : edited.config,
  env: isBlank(texts.env) && !isBlank(edited.env) ? `${envHead}${edited.env ?? ''}` : edited.env,
});

/** `20261115-101207`, local time. */
const stamp = (now: Date): string => {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
};

/** `model: name` is short for a mapping, and only below a mapping something can be set. */
const spelledOut = (config: string | undefined, path: readonly string[]): string | undefined => {
  const section = sections.find(({ name }) => name === path[0]);
  const key = section === undefined || path.length === 1 ? undefined : factsOf(section.schema).shorthand;
  const parsed = parseYaml(config ?? '', configFileName);
  const node = parsed.ok && section !== undefined ? childOf(parsed.root, section.name) : undefined;
  if (key === undefined || section === undefined || node?.kind !== 'scalar' || node.value === null) return config;
  const edited = editYaml(config ?? '', [section.name], parseValue(`{ ${key}: ${JSON.stringify(node.value)} }`, false));
  return edited.ok ? edited.text : config;
};

/** The configuration files as they would be. Nothing is on disk before `write`. */
export class Draft {
  readonly home: string;
  readonly #env: Environment;
  readonly #redactor: Redactor;
  /** What the files and commands say that hold secrets. */
  readonly #secrets: SecretReadings;
  readonly #before: ConfigTexts;
  #texts: ConfigTexts;

  /** Opens the files, has them changed and writes them, while nobody else can; nothing is written when `change` rejects. */
  static edit<T>(options: DraftOptions & { /** Old files are kept beside the new ones, named by it; without it they are not kept. */ readonly now?: Date }, change: (draft: Draft) => Promise<T>): Promise<T & WrittenFiles> {
    return whileConfigLocked(options.home, async () => {
      const draft = await Draft.open(options);
      const changed = await change(draft);
      return { ...changed, ...(await draft.#write(options.now)) };
    });
  }

  /** A `ConfigError` when the files cannot be edited. */
  static async open(options: DraftOptions): Promise<Draft> {
    const exists = await stat(options.home).then((facts) => facts.isDirectory(), () => false);
    const read = exists ? await readTexts(options.home) : ({ ok: true, texts: { config: undefined, env: undefined } } as const);
    if (!read.ok) throw new ConfigError(['These files have to be mended first:', ...read.problems.map((problem) => `  ${formatProblem(problem)}`)].join('\n'));
    const { secrets } = await evaluateWithSecrets({ home: options.home, env: options.env, sections, platforms, commands: options.commands }, read.texts);
    return new Draft({ ...options, secrets }, read.texts);
  }

  private constructor(options: { readonly home: string; readonly env: Environment; readonly redactor: Redactor; readonly secrets: SecretReadings }, texts: ConfigTexts) {
    this.home = options.home;
    this.#env = options.env;
    this.#redactor = options.redactor;
    this.#secrets = options.secrets;
    this.#before = texts;
    this.#texts = texts;
  }

  /** What would be in force, with this environment. */
  load(): LoadedConfig<typeof sections> {
    return this.#evaluate(this.#texts);
  }

  get isChanged(): boolean {
    return this.#texts.config !== this.#before.config || this.#texts.env !== this.#before.env;
  }

  /** What these changes would break; nothing is changed. */
  problemsOf(changes: readonly Change[]): NewProblems | { readonly refused: string } {
    const edited = this.#edit(changes);
    return 'refused' in edited ? edited : newProblems(this.load(), this.#evaluate(edited));
  }

  /** All of them or none: answers why not. What an account still lacks is no reason. */
  set(changes: readonly Change[]): string | undefined {
    const edited = this.#edit(changes);
    if ('refused' in edited) return edited.refused;
    const { serious } = newProblems(this.load(), this.#evaluate(edited));
    if (serious.length > 0) return serious.map(formatProblem).join('\n');
    this.#texts = begun(this.#texts, edited);
    return undefined;
  }

  /** The variable that stands in for a setting. */
  variableOf(path: string): string | undefined {
    return findSetting(splitPath(path), sections, platforms)?.variable;
  }

  /** A variable of the process itself, which beats the files. */
  inEnvironment(name: string): string | undefined {
    const value = this.#env[name];
    return value === undefined || value === '' ? undefined : value;
  }

  /** Whether `.env` would hold a variable. */
  keeps(name: string): boolean {
    return parseEnvFile(this.#texts.env ?? '', envFileName, () => '').entries.some((entry) => entry.name === name);
  }

  /** Variables that config.yaml would refer to. */
  references(): readonly string[] {
    return [...(this.#texts.config ?? '').matchAll(/\$\{(\w+)/g)].map((match) => match[1] ?? '');
  }

  /** Where it stands now; calling the answer goes back there. */
  mark(): () => void {
    const texts = this.#texts;
    return () => void (this.#texts = texts);
  }

  /** Old files are kept beside the new ones, named by the time. Files that somebody else has changed since they were read are left as they are, and a `ConfigError` says so. */
  write(now: Date): Promise<WrittenFiles> {
    return whileConfigLocked(this.home, () => this.#write(now));
  }

  async #write(now: Date | undefined): Promise<WrittenFiles> {
    const backups: string[] = [];
    const written = await writeTexts(this.home, { before: this.#before, after: this.#texts }, async (name, text) => {
      if (now === undefined) return;
      const path = join(this.home, `${name}.${stamp(now)}.bak`);
      await writeAtomically(path, text);
      backups.push(path);
    });
    if (!written.ok) throw new ConfigError(`${written.changed} was changed by somebody else in the meantime, so nothing was written. Run it again.`);
    return { files: written.files.map((name) => join(this.home, name)), backups };
  }

  #evaluate(texts: ConfigTexts): LoadedConfig<typeof sections> {
    return evaluate({ home: this.home, env: this.#env, sections, platforms, redactor: this.#redactor, secrets: this.#secrets }, texts).config;
  }

  #edit(changes: readonly Change[]): ConfigTexts | { readonly refused: string } {
    let texts = this.#texts;
    for (const change of changes) {
      const path = splitPath(change.path);
      texts = { ...texts, config: spelledOut(texts.config, path) };
      if (path.includes('')) return { refused: `${change.path} is not the name of a setting` };
      const comment = explanation(path);
      const setting = change.inConfigOnly === true ? undefined : findSetting(path, sections, platforms);
      const edited = editTexts(texts, { path, setting, value: change.value, ...(comment !== undefined && { comment }) });
      // What is to go and is not there is gone.
      if (!edited.ok && change.value !== undefined) return { refused: `${change.path}: ${edited.message}` };
      if (edited.ok) texts = edited.texts;
      if (change.keep !== undefined) texts = { ...texts, env: setVariable(texts.env, change.keep) };
    }
    return texts;
  }
}

/** What a draft makes, if it can be used; anything else has to be mended first. */
export const usableDraft = (draft: Draft): Config => {
  const loaded = draft.load();
  if (loaded.ok) return loaded;
  throw new ConfigError(['The configuration has to be mended first:', ...loaded.problems.map((problem) => `  ${formatProblem(problem)}`)].join('\n'));
};
