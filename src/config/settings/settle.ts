import { z } from 'zod';
import { isPlainKey, problemAt, writtenPath } from '../problem.ts';
import type { Problem, SettingPath } from '../problem.ts';
import { childSchema, factsOf, isLoose, settingsOf, shapeOf, variableName } from '../schema.ts';
import type { SettingFacts } from '../schema.ts';
import { fetchSecrets, sourceKeys } from '../secrets/fetch-secrets.ts';
import type { FetchContext } from '../secrets/fetch-secrets.ts';
import type { Variable } from '../variables.ts';
import { nearest } from './nearest.ts';
import { emptyMap, mapScalars, toPlain } from './setting-node.ts';
import type { ListNode, MapEntry, MapNode, ScalarNode, SettingNode } from './setting-node.ts';

type AnySchema = z.core.$ZodType;

export type SettleContext = FetchContext;

/** One setting: its schema and its place. */
interface Spot {
  readonly schema: AnySchema;
  readonly path: SettingPath;
}

/**
 * Brings what was written into the form the schema asks for: aliases under their own names, bare values below their
 * shorthand, variables over the file, words as booleans, digits as numbers, numbers as ids, comma lists as lists.
 * Unknown keys and keys without a value are reported and left out; everything else is for the schema to judge.
 */
export const settle = (node: SettingNode | undefined, spot: Spot, context: SettleContext): SettingNode | undefined => {
  const facts = factsOf(spot.schema);
  const variable = facts.env === undefined ? undefined : readOverlay(variableName(facts.env, context.platform), spot.path, context);
  const given: SettingNode | undefined = variable === undefined ? node : { kind: 'scalar', value: variable.value, at: variable.origin };
  const meant = facts.namesVariable && given?.kind === 'scalar' ? readVariable(given, spot.path, context) : given;
  const settled = settleCore(meant, { ...spot, facts }, context);
  return settled !== undefined && facts.secret ? markSecret(settled) : settled;
};

/** The variable that stands in for a setting; one whose secret cannot be had is reported. */
const readOverlay = (name: string, path: SettingPath, context: SettleContext): Variable | undefined => {
  const fault = context.variables?.fault(name);
  if (fault !== undefined) context.problems.push(problemAt(fault.origin, path, { code: 'unreadable', message: fault.message }));
  return context.variables?.get(name);
};

/** Undefined when there is nothing to read, which is reported. */
const readVariable = (node: ScalarNode, path: SettingPath, context: SettleContext): ScalarNode | undefined => {
  const name = String(node.value ?? '');
  if (name === '') return undefined;
  const held = context.variables?.get(name);
  if (held !== undefined) return { kind: 'scalar', value: held.value, at: node.at, filled: true };
  const message = context.variables?.fault(name)?.message ?? (/^[A-Za-z_]\w*$/.test(name) ? `the variable ${name} is not set` : 'must be the name of a variable');
  context.problems.push(problemAt(node.at, writtenPath(node.at, path), { code: 'unset_variable', message }));
  return undefined;
};

const markSecret = (node: SettingNode): SettingNode => mapScalars(node, (scalar) => ({ ...scalar, secret: true }));

const settleCore = (node: SettingNode | undefined, spot: Spot & { readonly facts: SettingFacts }, context: SettleContext): SettingNode | undefined => {
  const { def } = spot.facts.core._zod;
  if (node?.kind === 'scalar' && node.value === null) {
    if (z.safeParse(spot.schema, null).success) return node;
    if (def.type !== 'object' && def.type !== 'record') {
      context.problems.push(problemAt(node.at, writtenPath(node.at, spot.path), { code: 'invalid', message: 'has no value; give it one or remove the key' }));
      return undefined;
    }
  }
  switch (def.type) {
    case 'object':
      return settleMapping(node, spot, context);
    case 'record':
      if (isNothing(node)) return undefined;
      return node?.kind === 'map' ? settleEntries(node, spot, context) : node;
    case 'array':
      return node === undefined ? undefined : settleList(node, { schema: def.element, path: spot.path }, context);
    case 'union':
      return node === undefined ? undefined : settleUnion(node, { options: def.options, path: spot.path }, context);
    default:
      return node?.kind === 'scalar' ? coerce(node, spot.facts.core) : node;
  }
};

const isNothing = (node: SettingNode | undefined): boolean => node === undefined || (node.kind === 'scalar' && node.value === null);

const settleMapping = (node: SettingNode | undefined, spot: Spot & { readonly facts: SettingFacts }, context: SettleContext): SettingNode | undefined => {
  const { shorthand } = spot.facts;
  let written = isNothing(node) ? emptyMap(node?.at ?? { kind: 'default' }) : node;
  if (written?.kind === 'scalar' && shorthand !== undefined) {
    written = { kind: 'map', entries: new Map([[shorthand, { keyAt: written.at, value: written }]]), at: written.at };
  }
  if (written?.kind !== 'map') return written;
  const fetched = fetchSecrets(written, spot, context);
  const known = refuseUnknown(renameAliases(fetched, spot.schema, context.problems), spot.schema, context.problems);
  const settled = settleEntries(known, spot, context);
  return settled.entries.size === 0 && node === undefined ? undefined : settled;
};

/** Every key of the schema is visited, also those not written: a variable may hold their value. */
const settleEntries = (map: MapNode, spot: Spot, context: SettleContext): MapNode => {
  const { schema, path } = spot;
  const entries = new Map<string, MapEntry>();
  for (const key of new Set([...map.entries.keys(), ...Object.keys(shapeOf(schema) ?? {})])) {
    const entry = map.entries.get(key);
    const child = childSchema(schema, key);
    const value = child === undefined ? entry?.value : settle(entry?.value, { schema: child, path: [...path, key] }, context);
    if (value !== undefined) entries.set(key, { keyAt: entry?.keyAt ?? value.at, value });
  }
  return { ...map, entries };
};

/** Moves keys written under another name to their own; both at once is a conflict, not a choice for us. */
export const renameAliases = (map: MapNode, schema: AnySchema, problems: Problem[]): MapNode => {
  const names = new Map(Object.entries(shapeOf(schema) ?? {}).flatMap(([key, child]) => factsOf(child).aliases.map((alias): [string, string] => [alias, key])));
  const entries = new Map<string, MapEntry>();
  for (const [written, entry] of map.entries) {
    const key = names.get(written) ?? written;
    if (entries.has(key) || (key !== written && map.entries.has(key))) {
      problems.push(problemAt(entry.keyAt, writtenPath(entry.keyAt, [written]), { code: 'conflict', message: `means the same as ${key}, which is given too; keep one` }));
      continue;
    }
    entries.set(key, entry);
  }
  return { ...map, entries };
};

const refuseUnknown = (map: MapNode, schema: AnySchema, problems: Problem[]): MapNode => {
  if (isLoose(schema)) return map;
  const shape = shapeOf(schema) ?? {};
  const entries = new Map<string, MapEntry>();
  for (const [key, entry] of map.entries) {
    if (Object.hasOwn(shape, key)) entries.set(key, entry);
    else problems.push(unknownKey(key, entry, [...Object.keys(shape), ...(/_(?:file|cmd)$/.test(key) ? sourceKeys(schema) : [])]));
  }
  return { ...map, entries };
};

export const unknownKey = (key: string, entry: MapEntry, candidates: Iterable<string>): Problem => {
  const path = writtenPath(entry.keyAt, [key]);
  const message = isPlainKey(key) ? 'unknown key' : 'unknown key; is a colon missing, or a quote too many?';
  return problemAt(entry.keyAt, path, { code: 'unknown_key', message, suggestion: isPlainKey(key) ? nearest(key, candidates) : undefined });
};

const settleList = (node: SettingNode, element: Spot, context: SettleContext): SettingNode => {
  const list = node.kind === 'scalar' && !isStructured(element.schema) ? splitList(node) : node;
  if (list.kind !== 'list') return list;
  const items = list.items.map((item, index) => settle(item, { ...element, path: [...element.path, index] }, context));
  return { ...list, items: items.filter((item) => item !== undefined) };
};

const isStructured = (schema: AnySchema): boolean => ['object', 'record', 'array'].includes(factsOf(schema).core._zod.def.type);

const splitList = (node: ScalarNode): ListNode => {
  if (typeof node.value !== 'string') return { kind: 'list', items: [node], at: node.at };
  const words = node.value.split(',').map((word) => word.trim());
  return { kind: 'list', items: words.filter((word) => word !== '').map((value) => ({ kind: 'scalar', value, at: node.at })), at: node.at };
};

/** The first form that fits once settled; a value that fits none is left to the schema's own complaint. */
const settleUnion = (node: SettingNode, union: { readonly options: readonly AnySchema[]; readonly path: SettingPath }, context: SettleContext): SettingNode => {
  let ofSecrets: readonly Problem[] = [];
  for (const schema of union.options) {
    const problems: Problem[] = [];
    const settled = settle(node, { schema, path: union.path }, { ...context, variables: undefined, problems });
    if (problems.length === 0 && settled !== undefined && z.safeParse(schema, toPlain(settled)).success) return settled;
    if (ofSecrets.length === 0) ofSecrets = problems.filter(({ code }) => code === 'unreadable' || code === 'conflict');
  }
  // The schema would not miss a secret that may be left out.
  context.problems.push(...ofSecrets);
  const holdsSecret = union.options.some((schema) => [...settingsOf(schema)].some(({ facts }) => facts.secret));
  return holdsSecret ? markSecret(node) : node;
};

const words = new Map([
  ...['true', '1', 'yes', 'on'].map((word): [string, boolean] => [word, true]),
  ...['false', '0', 'no', 'off'].map((word): [string, boolean] => [word, false]),
]);
const numeric = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

const coerce = (node: ScalarNode, core: z.core.$ZodTypes): ScalarNode => {
  const { value } = node;
  switch (core._zod.def.type) {
    case 'boolean': {
      const truth = typeof value === 'boolean' ? value : words.get(String(value).trim().toLowerCase());
      return truth === undefined ? node : { ...node, value: truth };
    }
    case 'number':
      return typeof value === 'string' && numeric.test(value.trim()) ? { ...node, value: Number(value) } : node;
    case 'string':
    case 'enum':
      return typeof value === 'number' ? { ...node, value: node.source ?? String(value) } : node;
    default:
      return node;
  }
};

