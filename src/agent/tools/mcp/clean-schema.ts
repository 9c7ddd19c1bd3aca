import { listOf, recordOf, textOf } from '../../models/wires/json-fields.ts';
import { boundedText } from '../clean-text.ts';

type Json = Readonly<Record<string, unknown>>;

const maxDepth = 12;
const maxNodes = 2_000;
const maxSchemaChars = 32_000;
const maxDescriptionChars = 1_000;

const types: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean']);

/** What some provider accepts as the name of an argument; one refused name refuses the whole request. */
const argumentName = /^[A-Za-z0-9_.-]{1,64}$/;

const isNumber = (value: unknown): boolean => typeof value === 'number';
const isText = (value: unknown): boolean => typeof value === 'string';

/** Servers that turn schemas into grammars understand only patterns over the whole text, without looking around. */
const isSimplePattern = (value: unknown): boolean => typeof value === 'string' && /^\^.*\$$/.test(value) && !value.includes('(?');

/** What is carried over as it stands, when it is what it should be. */
const keywords: Readonly<Record<string, (value: unknown) => boolean>> = {
  enum: (value) => Array.isArray(value) && value.length > 0,
  default: () => true,
  format: isText,
  pattern: isSimplePattern,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: isNumber,
  minLength: isNumber,
  maxLength: isNumber,
  minItems: isNumber,
  maxItems: isNumber,
};

interface Walk {
  readonly root: Json;
  readonly depth: number;
  /** References on the way here: one that comes again would never end. */
  readonly open: readonly string[];
  /** Shared by the whole schema: references can make a small one endlessly wide. */
  readonly budget: { nodes: number };
}

const anything: Json = {};

const isNullType = (schema: unknown): boolean => recordOf(schema)?.['type'] === 'null';

const lookUp = (root: Json, reference: string): Json | undefined => {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  let found: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    const record = recordOf(found);
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
  }
  return recordOf(found);
};

/** Puts what `$ref` names in its place. */
const resolve = (schema: Json, walk: Walk): { readonly schema: Json; readonly walk: Walk } | undefined => {
  const reference = textOf(schema['$ref']);
  if (reference === undefined) return { schema, walk };
  const target = walk.open.includes(reference) || walk.open.length > maxDepth ? undefined : lookUp(walk.root, reference);
  if (target === undefined) return undefined;
  const { $ref: _, ...beside } = schema;
  return resolve({ ...target, ...beside }, { ...walk, open: [...walk.open, reference] });
};

const branchesOf = (schema: Json): readonly unknown[] | undefined => (listOf(schema['anyOf']) ?? listOf(schema['oneOf']))?.filter((branch) => !isNullType(branch));

const join = (into: Json, part: Json): Json => ({
  ...part,
  ...into,
  properties: { ...recordOf(part['properties']), ...recordOf(into['properties']) },
  required: [...(listOf(into['required']) ?? []), ...(listOf(part['required']) ?? [])],
});

/** All parts of an `allOf` at once, and of alternatives the only one that is not null. */
const merge = (schema: Json, walk: Walk): Json => {
  const { allOf, ...own } = schema;
  const parts = (listOf(allOf) ?? []).map((part) => resolve(recordOf(part) ?? anything, walk)?.schema ?? anything);
  const whole = parts.reduce<Json>(join, own);
  const [first, ...others] = branchesOf(whole) ?? [];
  const only = others.length === 0 ? resolve(recordOf(first) ?? anything, walk)?.schema : undefined;
  if (first === undefined || only === undefined) return whole;
  const { anyOf: _any, oneOf: _one, ...rest } = whole;
  return { ...only, ...rest };
};

const typeOf = (schema: Json): string | undefined => {
  const named = [schema['type'], ...(listOf(schema['type']) ?? [])].find((type) => types.has(type));
  if (typeof named === 'string') return named;
  return recordOf(schema['properties']) === undefined ? undefined : 'object';
};

const cleanProperties = (schema: Json, walk: Walk): Json => {
  const entries = Object.entries(recordOf(schema['properties']) ?? {}).filter(([key]) => argumentName.test(key));
  const properties = Object.fromEntries(entries.map(([key, value]) => [key, cleanNode(value, walk)]));
  const required = [...new Set((listOf(schema['required']) ?? []).filter((key) => typeof key === 'string' && Object.hasOwn(properties, key)))];
  const others = schema['additionalProperties'];
  return {
    properties,
    ...(required.length > 0 && { required }),
    ...(typeof others === 'boolean' && { additionalProperties: others }),
    ...(recordOf(others) !== undefined && { additionalProperties: cleanNode(others, walk) }),
  };
};

const cleanNode = (value: unknown, above: Walk): Json => {
  const given = recordOf(value);
  above.budget.nodes -= 1;
  const found = given === undefined || above.depth >= maxDepth || above.budget.nodes < 0 ? undefined : resolve(given, above);
  if (found === undefined) return anything;
  const walk = { ...found.walk, depth: above.depth + 1 };
  const schema = merge(found.schema, walk);
  const type = typeOf(schema);
  const description = textOf(schema['description']) ?? textOf(schema['title']);
  return {
    ...(type !== undefined && { type }),
    ...(description !== undefined && { description: boundedText(description, maxDescriptionChars) }),
    ...Object.fromEntries(Object.entries(keywords).flatMap(([key, fits]) => (Object.hasOwn(schema, key) && fits(schema[key]) ? [[key, schema[key]]] : []))),
    ...(Object.hasOwn(schema, 'const') && { enum: [schema['const']] }),
    ...(type === 'object' && cleanProperties(schema, walk)),
    ...(type === 'array' && { items: cleanNode(listOf(schema['items'])?.[0] ?? schema['items'], walk) }),
    ...cleanBranches(schema, walk),
  };
};

const cleanBranches = (schema: Json, walk: Walk): Json => {
  const branches = branchesOf(schema);
  return branches === undefined || branches.length === 0 ? anything : { anyOf: branches.map((branch) => cleanNode(branch, walk)) };
};

/** Alternatives at the top are refused by some providers: every argument of every branch becomes one that may be left out. */
const flattenTop = (schema: Json): Json => {
  const { anyOf, ...rest } = schema;
  const offered = (listOf(anyOf) ?? []).map((branch) => recordOf(recordOf(branch)?.['properties']) ?? anything);
  return { ...rest, type: 'object', properties: Object.assign({}, ...offered, recordOf(rest['properties'])) };
};

/**
 * A server's schema of arguments in the form that every provider takes: an object at the top, references in place, nothing that is only for
 * validators, no endless depth. What cannot be said in that form is left open; the server checks its arguments itself.
 */
export const cleanSchema = (given: unknown): Json => {
  const root = recordOf(given) ?? anything;
  const cleaned = flattenTop(cleanNode({ ...root, type: 'object' }, { root, depth: 0, open: [], budget: { nodes: maxNodes } }));
  return JSON.stringify(cleaned).length > maxSchemaChars ? { type: 'object', properties: {}, additionalProperties: true } : cleaned;
};
