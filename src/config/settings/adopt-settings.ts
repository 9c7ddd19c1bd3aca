import { Document } from 'yaml';
import type { Node } from 'yaml';
import { configFileName, envFileName, evaluate } from '../evaluate.ts';
import type { ConfigInput, ConfigTexts, LoadedConfig } from '../evaluate.ts';
import { formatProblem } from '../problem.ts';
import type { Section } from '../section.ts';
import { editTexts, newProblems, setVariable } from '../text/config-texts.ts';
import { editYaml } from '../text/edit-yaml.ts';
import { parseEnvFile } from '../text/parse-env-file.ts';
import { parseYaml } from '../text/parse-yaml.ts';
import { foreignSections } from '../upkeep/foreign-sections.ts';
import { migrateText } from '../upkeep/migrate-config.ts';
import { findSetting } from './find-setting.ts';
import { childOf, toExactPlain } from './setting-node.ts';
import type { MapNode, Plain, SettingNode } from './setting-node.ts';

export interface AdoptedSetting {
  /** A path of config.yaml or the name of a variable. */
  readonly what: string;
  readonly fate: 'taken' | 'changed' | 'left' | 'known';
  readonly why?: string;
}

export interface Adoption {
  readonly texts: ConfigTexts;
  readonly settings: readonly AdoptedSetting[];
}

interface Leaf {
  readonly path: readonly string[];
  readonly node: SettingNode;
}

/** Lists are taken whole; so is a mapping without anything in it. */
function* leavesOf(node: SettingNode, path: readonly string[]): Generator<Leaf> {
  if (node.kind !== 'map' || (node.entries.size === 0 && path.length > 0)) yield { path, node };
  else for (const [key, entry] of node.entries) yield* leavesOf(entry.value, [...path, key]);
}

const nodeAt = (root: SettingNode, path: readonly string[]): SettingNode | undefined => path.reduce<SettingNode | undefined>((node, key) => childOf(node, key), root);

const same = (a: Plain, b: Plain): boolean => JSON.stringify(a) === JSON.stringify(b);

interface Work {
  readonly input: ConfigInput<readonly Section[]>;
  texts: ConfigTexts;
  /** What `texts` make. */
  config: LoadedConfig;
  readonly settings: AdoptedSetting[];
}

/** Takes a text over unless something is wrong with it that was not wrong before; answers what, in words. */
const take = (work: Work, what: string, after: ConfigTexts): string | undefined => {
  const { config } = evaluate(work.input, after);
  const { serious } = newProblems(work.config, config);
  if (serious.length > 0) return serious.map((problem) => formatProblem(problem.path === what ? { ...problem, path: '' } : problem)).join('; ');
  work.texts = after;
  work.config = config;
  return undefined;
};

const nameOf = (path: readonly string[]): string => path.join('.');

const edited = ({ input, texts }: Work, leaf: Leaf): ConfigTexts | undefined => {
  const setting = findSetting(leaf.path, input.sections, input.platforms);
  if (setting?.secret === true && leaf.node.kind === 'scalar' && leaf.node.value !== null) {
    const edit = editTexts(texts, { path: leaf.path, setting, value: String(leaf.node.source ?? leaf.node.value) });
    return edit.ok ? edit.texts : undefined;
  }
  const result = editYaml(texts.config ?? '', leaf.path, new Document(toExactPlain(leaf.node)).contents as Node);
  return result.ok ? { ...texts, config: result.text } : undefined;
};

/** Why a key has no place here; undefined when it may have one. */
const uselessBecause = (path: readonly string[], { input }: Work): string | undefined => {
  const [first = ''] = path[0] === 'gateway' ? path.slice(1) : path;
  const isOurs = input.sections.some(({ name }) => name === first) || first === 'platforms' || input.platforms.some(({ name }) => name === first);
  if (isOurs) return undefined;
  if (first.startsWith('_') || first.startsWith('x-')) return 'it is for the file’s own use';
  return foreignSections.includes(first) ? 'this gateway does not use it' : 'this gateway does not know it';
};

const variablesIn = (text: string | undefined): ReadonlyMap<string, string> => new Map(parseEnvFile(text ?? '', envFileName, () => '').entries.map(({ name, value }) => [name, value]));

/** What .env holds for a secret already. */
const heldSecret = ({ input, texts }: Work, path: readonly string[]): string | undefined => {
  const setting = findSetting(path, input.sections, input.platforms);
  return setting?.secret === true && setting.variable !== undefined ? variablesIn(texts.env).get(setting.variable) : undefined;
};

const here = (what: string, isSame: boolean): AdoptedSetting => (isSame ? { what, fate: 'known' } : { what, fate: 'left', why: 'it has another value here' });

const adopted = (leaf: Leaf, before: ConfigTexts, after: ConfigTexts): AdoptedSetting =>
  before.env === after.env ? { what: nameOf(leaf.path), fate: 'taken' } : { what: nameOf(leaf.path), fate: 'changed', why: 'it is a secret, so it is in .env now' };

/** True when nothing more is to be done about it. */
const adoptLeaf = (work: Work, leaf: Leaf, isLastTry: boolean): boolean => {
  const what = nameOf(leaf.path);
  const held = heldSecret(work, leaf.path);
  if (held !== undefined && leaf.node.kind === 'scalar') {
    work.settings.push(here(what, held === String(leaf.node.source ?? leaf.node.value)));
    return true;
  }
  const before = work.texts;
  const after = edited(work, leaf);
  const why = after === undefined ? 'it cannot be written into this config.yaml' : take(work, what, after);
  if (why === undefined) work.settings.push(adopted(leaf, before, work.texts));
  else if (isLastTry) work.settings.push({ what, fate: 'left', why });
  return why === undefined || isLastTry;
};

/** Takes all of them or none. */
const adoptTogether = (work: Work, leaves: readonly Leaf[]): boolean => {
  const settings: AdoptedSetting[] = [];
  let { texts } = work;
  for (const leaf of leaves) {
    const after = edited({ ...work, texts }, leaf);
    if (after === undefined) return false;
    settings.push(adopted(leaf, texts, after));
    texts = after;
  }
  if (take(work, '', texts) !== undefined) return false;
  work.settings.push(...settings);
  return true;
};

/** The keys of an entry that may only be right together, as it was written and without each one of them; deeper entries first. */
const entriesOf = (leaves: readonly Leaf[]): readonly (readonly Leaf[])[] =>
  [...Map.groupBy(leaves, ({ path }) => nameOf(path.slice(0, -1))).values()]
    .filter(({ length }) => length > 1)
    .toSorted(([a], [b]) => (b?.path.length ?? 0) - (a?.path.length ?? 0))
    .flatMap((entry) => [entry, ...(entry.length > 2 ? entry.map((without) => entry.filter((leaf) => leaf !== without)) : [])]);

/** Settings that stand in our config.yaml, by the variables that would win over them. */
const settingsByVariable = ({ input, texts }: Work): ReadonlyMap<string, string> => {
  const written = parseYaml(texts.config ?? '', configFileName);
  if (!written.ok) return new Map();
  return new Map(
    [...leavesOf(written.root, [])].flatMap(({ path, node }) => {
      const variable = findSetting(path, input.sections, input.platforms)?.variable;
      const value = String(toExactPlain(node));
      // What refers to a variable waits for one.
      return variable === undefined || value.includes('${') ? [] : [[variable, value] as const];
    }),
  );
};

const adoptVariables = (work: Work, text: string): void => {
  const { entries } = parseEnvFile(text, envFileName, () => '');
  const own = new Map([...settingsByVariable(work), ...variablesIn(work.texts.env)]);
  for (const { name, value } of new Map(entries.map((entry) => [entry.name, entry])).values()) {
    if (value === '' || name === 'HERMES_HOME') continue;
    const mine = own.get(name);
    if (mine !== undefined) {
      work.settings.push(here(name, mine === value));
      continue;
    }
    const why = take(work, name, { ...work.texts, env: setVariable(work.texts.env, { name, value }) });
    work.settings.push(why === undefined ? { what: name, fate: 'taken' } : { what: name, fate: 'left', why });
  }
};

const forStrangers = 'unauthorized_dm_behavior';

/** What the original says once for all platforms is said here for each one that is used. */
const adoptForStrangers = (work: Work, node: SettingNode): void => {
  const { config, input } = work;
  const used = new Set((config.ok ? config.accounts : []).map(({ platform }) => platform));
  for (const { name } of input.platforms.filter(({ name, alwaysOn }) => used.has(name) && !alwaysOn)) {
    const path = ['platforms', name, forStrangers];
    const written = parseYaml(work.texts.config ?? '', configFileName);
    if (written.ok && nodeAt(written.root, path) !== undefined) continue;
    const after = edited(work, { path, node });
    const why = after === undefined ? 'it cannot be written into this config.yaml' : take(work, nameOf(path), after);
    work.settings.push(why === undefined ? { what: nameOf(path), fate: 'changed', why: `it was ${forStrangers}` } : { what: nameOf(path), fate: 'left', why });
  }
};

const adoptTree = (work: Work, root: MapNode): void => {
  const written = parseYaml(work.texts.config ?? '', configFileName);
  const own = written.ok ? written.root : undefined;
  const useless = new Map<string, string>();
  let waiting: Leaf[] = [];
  for (const leaf of leavesOf(root, [])) {
    const why = uselessBecause(leaf.path, work);
    const mine = own === undefined ? undefined : nodeAt(own, leaf.path);
    if (why !== undefined) useless.set(nameOf(leaf.path.slice(0, leaf.path[0] === 'gateway' ? 2 : 1)), why);
    else if (mine === undefined) waiting.push(leaf);
    else work.settings.push(here(nameOf(leaf.path), same(toExactPlain(mine), toExactPlain(leaf.node))));
  }
  // Some settings are only right together with others, which may come after them.
  for (let before = -1; waiting.length !== before; ) {
    before = waiting.length;
    waiting = waiting.filter((leaf) => !adoptLeaf(work, leaf, false));
    const together = waiting.length === before ? (entriesOf(waiting).find((entry) => adoptTogether(work, entry)) ?? []) : [];
    waiting = waiting.filter((leaf) => !together.includes(leaf));
  }
  for (const leaf of waiting) adoptLeaf(work, leaf, true);
  const strangers = childOf(root, forStrangers);
  if (strangers !== undefined && useless.delete(forStrangers)) adoptForStrangers(work, strangers);
  for (const [what, why] of useless) work.settings.push({ what, fate: 'left', why });
};

/**
 * Takes settings of another configuration into ours, one by one: what is set here stays, and what would not be accepted from a person is left. Keys that have
 * moved are taken in their new places. Nothing is written.
 */
export const adoptSettings = (input: ConfigInput<readonly Section[]>, ours: ConfigTexts, theirs: ConfigTexts): Adoption => {
  const work: Work = { input, texts: ours, config: evaluate(input, ours).config, settings: [] };
  adoptVariables(work, theirs.env ?? '');
  const migrated = migrateText(theirs.config ?? '');
  const parsed = migrated === undefined ? undefined : parseYaml(migrated.text, configFileName);
  if (parsed?.ok !== true) return { texts: work.texts, settings: [...work.settings, { what: configFileName, fate: 'left', why: 'it is not YAML that can be read' }] };
  adoptTree(work, parsed.root);
  const moved = new Map((migrated?.moved ?? []).map(({ from, to }) => [nameOf(to), nameOf(from)]));
  const settings = work.settings.map((setting): AdoptedSetting => {
    const from = [...moved].find(([to]) => setting.what === to || setting.what.startsWith(`${to}.`))?.[1];
    return from === undefined || setting.fate !== 'taken' ? setting : { ...setting, fate: 'changed', why: `it was ${from}` };
  });
  return { texts: work.texts, settings };
};
