import { isPlainKey, problemAt, writtenPath } from '../problem.ts';
import type { Problem } from '../problem.ts';
import { settingsOf, shapeOf } from '../schema.ts';
import type { Section } from '../section.ts';
import { nearest } from '../settings/nearest.ts';
import type { MapEntry, MapNode } from '../settings/setting-node.ts';
import { unknownKey } from '../settings/settle.ts';
import { foreignSections } from '../upkeep/foreign-sections.ts';

/** A file taken apart: what belongs to which section and which platform. */
export interface Layout {
  readonly sections: ReadonlyMap<string, MapEntry>;
  /** Blocks of one platform in the order of their rank; a key of an earlier block wins. Unknown names are included. */
  readonly platforms: ReadonlyMap<string, readonly MapEntry[]>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export interface LayoutNames {
  readonly sections: readonly Section[];
  readonly platforms: readonly string[];
  /** Keys every account has; at the top level they are in the wrong place. */
  readonly accountKeys: readonly string[];
}

/** Keys for the file's own use: the original's version mark, and anchors kept in one place. */
const isPrivateKey = (key: string): boolean => key.startsWith('_') || key.startsWith('x-');

/**
 * Reads `gateway:` as if its keys stood at the top level, where the top level wins, and a platform's own top-level block
 * as if it stood below `platforms`.
 */
export const layOut = (root: MapNode, names: LayoutNames): Layout => {
  const sections = new Map<string, MapEntry>();
  const platforms = new Map<string, MapEntry[]>();
  const blocks: [string, MapEntry][] = [];
  const problems: Problem[] = [];
  const foreign: MapEntry[] = [];
  const sectionNames = new Set(names.sections.map(({ name }) => name));
  const addPlatform = (name: string, entry: MapEntry): void => {
    platforms.set(name, [...(platforms.get(name) ?? []), entry]);
  };

  const place = (key: string, entry: MapEntry): void => {
    if (sectionNames.has(key)) {
      if (!sections.has(key)) sections.set(key, entry);
    } else if (key === 'platforms') {
      if (entry.value.kind === 'map') for (const [name, block] of entry.value.entries) addPlatform(name, block);
      else if (entry.value.kind === 'list' || entry.value.value !== null) problems.push(notAMapping(entry, 'platforms'));
    } else if (names.platforms.includes(key)) {
      blocks.push([key, entry]);
    } else if (foreignSections.includes(key)) {
      foreign.push(entry);
    } else if (!isPrivateKey(key)) {
      problems.push(unknownTopLevel(key, entry, names));
    }
  };

  const gateway = root.entries.get('gateway');
  for (const [key, entry] of root.entries) if (key !== 'gateway') place(key, entry);
  if (gateway !== undefined) {
    const { own, lifted } = splitGateway(gateway, names.sections, problems);
    if (own !== undefined) sections.set('gateway', own);
    for (const [key, entry] of lifted) place(key, entry);
  }
  for (const [name, entry] of blocks) addPlatform(name, entry);
  return { sections, platforms, problems, warnings: foreign.length === 0 ? [] : [unusedSections(foreign)] };
};

const notAMapping = (entry: MapEntry, name: string): Problem =>
  problemAt(entry.value.at, writtenPath(entry.keyAt, [name]), { code: 'invalid', message: 'must be a mapping' });

/** A section called `gateway` keeps the keys of its schema; the others are lifted. */
const splitGateway = (gateway: MapEntry, sections: readonly Section[], problems: Problem[]): { own: MapEntry | undefined; lifted: [string, MapEntry][] } => {
  const section = sections.find(({ name }) => name === 'gateway');
  if (gateway.value.kind !== 'map') {
    if (gateway.value.kind === 'list' || gateway.value.value !== null) problems.push(notAMapping(gateway, 'gateway'));
    return { own: undefined, lifted: [] };
  }
  const shape = section === undefined ? {} : (shapeOf(section.schema) ?? {});
  const all = [...gateway.value.entries];
  const own = new Map(all.filter(([key]) => Object.hasOwn(shape, key)));
  return {
    own: section === undefined ? undefined : { ...gateway, value: { ...gateway.value, entries: own } },
    lifted: all.filter(([key]) => !Object.hasOwn(shape, key)),
  };
};

const unusedSections = (entries: readonly MapEntry[]): Problem => {
  const keys = entries.map(({ keyAt }) => writtenPath(keyAt, []).join('.'));
  return {
    code: 'unused',
    ...(entries[0]?.keyAt.kind === 'file' && { file: entries[0].keyAt.file }),
    path: '',
    message: `accepted but not used here: ${keys.join(', ')}`,
  };
};

const unknownTopLevel = (key: string, entry: MapEntry, names: LayoutNames): Problem => {
  const candidates = [...names.sections.map(({ name }) => name), 'platforms', 'gateway', ...names.platforms, ...foreignSections];
  const problem = unknownKey(key, entry, candidates);
  const home = isPlainKey(key) ? homeOf(key, names) : undefined;
  return home === undefined ? problem : { ...problem, suggestion: home };
};

/** Where a key belongs that was written at the top level, mostly for want of indentation. */
const homeOf = (key: string, names: LayoutNames): string | undefined => {
  const accountKey = names.accountKeys.includes(key) ? key : undefined;
  if (accountKey !== undefined) return `platforms.<name>.${accountKey}`;
  for (const { name, schema } of names.sections) {
    const setting = [...settingsOf(schema)].find(({ path }) => path.at(-1) === key);
    if (setting !== undefined) return [name, ...setting.path].join('.');
  }
  const close = nearest(key, names.accountKeys);
  return close !== undefined && nearest(key, names.sections.map(({ name }) => name)) === undefined ? `platforms.<name>.${close}` : undefined;
};
