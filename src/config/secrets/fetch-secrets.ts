import type { z } from 'zod';
import { problemAt, writtenPath } from '../problem.ts';
import type { Problem, SettingPath } from '../problem.ts';
import { factsOf, shapeOf, variableName } from '../schema.ts';
import type { MapEntry, MapNode } from '../settings/setting-node.ts';
import type { Variables } from '../variables.ts';
import { sourceEndings, sourceText } from './secret-source.ts';
import type { SecretSource, SecretSources } from './secret-source.ts';

type AnySchema = z.core.$ZodType;

export interface FetchContext {
  /** Variables that stand in for settings; absent where none apply. */
  readonly variables: Variables | undefined;
  readonly secrets: SecretSources;
  readonly platform: string | undefined;
  readonly problems: Problem[];
}

const isList = (schema: AnySchema): boolean => factsOf(schema).core._zod.def.type === 'array';

/** Whether a setting is a secret that may stand elsewhere. */
const isFetched = (schema: AnySchema): boolean => {
  const facts = factsOf(schema);
  const { def } = facts.core._zod;
  return !facts.namesVariable && (facts.secret || (def.type === 'array' && factsOf(def.element).secret));
};

/** The keys of a mapping that name where one of its secrets is. */
export const sourceKeys = (schema: AnySchema): readonly string[] =>
  Object.entries(shapeOf(schema) ?? {}).flatMap(([key, child]) => (isFetched(child) ? sourceEndings.map((ending) => `${key}${ending.key}`) : []));

interface Given {
  readonly name: string;
  readonly kind: SecretSource['kind'];
  readonly entry: MapEntry;
}

const givenFor = (map: MapNode, names: readonly string[], shape: Readonly<Record<string, AnySchema>>): readonly Given[] =>
  names.flatMap((base) =>
    sourceEndings.flatMap(({ key, kind }) => {
      const name = `${base}${key}`;
      const entry = Object.hasOwn(shape, name) ? undefined : map.entries.get(name);
      return entry === undefined ? [] : [{ name, kind, entry }];
    }),
  );

const fetched = ({ kind, entry, name }: Given, child: AnySchema, secrets: SecretSources): MapEntry | { readonly fault: string } => {
  const { value } = entry;
  if (value.kind !== 'scalar' || typeof value.value !== 'string' || value.value.trim() === '') return { fault: `${name} must be ${kind === 'file' ? 'the path of a file' : 'a command'}` };
  const source = secrets.sourceOf(kind, value.value.trim());
  const reading = secrets.read(source);
  if (!reading.ok) return { fault: reading.message };
  const text = isList(child) ? reading.value.replaceAll(/\r?\n/g, ',') : reading.value;
  return { keyAt: entry.keyAt, value: { kind: 'scalar', value: text, at: value.at.kind === 'default' ? value.at : { ...value.at, via: sourceText(source) }, filled: true } };
};

/** Puts the secrets of a mapping in place of the keys that say where they are. A value comes from one place only; a variable beats the file as ever. */
export const fetchSecrets = (map: MapNode, spot: { readonly schema: AnySchema; readonly path: SettingPath }, context: FetchContext): MapNode => {
  const shape = shapeOf(spot.schema) ?? {};
  const entries = new Map(map.entries);
  for (const [key, child] of Object.entries(shape)) {
    if (!isFetched(child)) continue;
    const { aliases, env } = factsOf(child);
    const names = [key, ...aliases];
    const given = givenFor(map, names, shape);
    const [first] = given;
    if (first === undefined) continue;
    for (const { name } of given) entries.delete(name);
    const complain = (code: 'conflict' | 'unreadable', message: string): void => {
      context.problems.push(problemAt(first.entry.keyAt, [...writtenPath(map.at, spot.path), key], { code, message }));
    };
    const written = [...names.filter((name) => map.entries.has(name)), ...given.map(({ name }) => name)];
    if (written.length > 1) {
      complain('conflict', `${written.join(' and ')} are both given; keep one`);
      continue;
    }
    if (env !== undefined && context.variables?.has(variableName(env, context.platform)) === true) continue;
    const entry = fetched(first, child, context.secrets);
    if ('fault' in entry) complain('unreadable', entry.fault);
    else entries.set(key, entry);
  }
  return { ...map, entries };
};
