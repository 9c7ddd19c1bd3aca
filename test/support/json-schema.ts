import { readFileSync } from 'node:fs';

type Schema = Readonly<Record<string, unknown>>;

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeOf(value) === 'object';

const fitsType = (value: unknown, type: unknown): boolean => {
  const actual = typeOf(value);
  return (Array.isArray(type) ? type : [type]).some((wanted) => wanted === actual || (wanted === 'number' && actual === 'integer'));
};

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 120) ?? 'undefined';

/** What is wrong with a value in the light of a schema of an OpenAPI document. Only the keywords that those documents use are known; another one is an error. */
const newValidator = (document: Document): ((schema: Schema, value: unknown, at: string) => readonly string[]) => {
  const resolve = (ref: string): Schema => {
    const found = document.components.schemas[ref.replace('#/components/schemas/', '')];
    if (found === undefined) throw new Error(`the document has no ${ref}`);
    return found;
  };
  const ignored = new Set(['format', 'discriminator', 'nullable', '$recursiveAnchor', 'description', 'default']);
  const checks: Readonly<Record<string, (wanted: never, value: unknown, at: string, schema: Schema) => readonly string[]>> = {
    $ref: (ref: string, value, at) => check(resolve(ref), value, at),
    $recursiveRef: () => [],
    type: (type: unknown, value, at) => (fitsType(value, type) ? [] : [`${at} is ${shown(value)}, not ${String(type)}`]),
    enum: (values: readonly unknown[], value, at) => (values.includes(value) ? [] : [`${at} is ${shown(value)}, none of ${values.join(', ')}`]),
    const: (wanted: unknown, value, at) => (value === wanted ? [] : [`${at} is ${shown(value)}, not ${shown(wanted)}`]),
    required: (names: readonly string[], value, at) => (isRecord(value) ? names.filter((name) => value[name] === undefined).map((name) => `${at}.${name} is missing`) : []),
    properties: (properties: Readonly<Record<string, Schema>>, value, at) =>
      isRecord(value) ? Object.entries(properties).flatMap(([name, schema]) => (value[name] === undefined ? [] : check(schema, value[name], `${at}.${name}`))) : [],
    additionalProperties: (allowed: boolean | Schema, value, at, schema) => {
      const rest = isRecord(value) ? Object.keys(value).filter((name) => !Object.hasOwn((schema['properties'] as object | undefined) ?? {}, name)) : [];
      if (allowed === false) return rest.map((name) => `${at}.${name} is not known`);
      return isRecord(value) && typeof allowed === 'object' ? rest.flatMap((name) => check(allowed, value[name], `${at}.${name}`)) : [];
    },
    items: (schema: Schema, value, at) => (Array.isArray(value) ? value.flatMap((item, index) => check(schema, item, `${at}[${index}]`)) : []),
    allOf: (schemas: readonly Schema[], value, at) => schemas.flatMap((schema) => check(schema, value, at)),
    anyOf: (schemas: readonly Schema[], value, at) => oneOf(schemas, value, at),
    oneOf: (schemas: readonly Schema[], value, at) => oneOf(schemas, value, at),
    maximum: (most: number, value, at) => (typeof value !== 'number' || value <= most ? [] : [`${at} is more than ${most}`]),
    minimum: (least: number, value, at) => (typeof value !== 'number' || value >= least ? [] : [`${at} is less than ${least}`]),
    maxLength: (most: number, value, at) => (typeof value !== 'string' || value.length <= most ? [] : [`${at} is too long`]),
    minLength: (least: number, value, at) => (typeof value !== 'string' || value.length >= least ? [] : [`${at} is too short`]),
    maxItems: (most: number, value, at) => (!Array.isArray(value) || value.length <= most ? [] : [`${at} has too many items`]),
    minItems: (least: number, value, at) => (!Array.isArray(value) || value.length >= least ? [] : [`${at} has too few items`]),
    uniqueItems: (_wanted: boolean, value, at) => (!Array.isArray(value) || new Set(value.map((item) => JSON.stringify(item))).size === value.length ? [] : [`${at} has something twice`]),
    pattern: (pattern: string, value, at) => (typeof value !== 'string' || new RegExp(pattern, 'u').test(value) ? [] : [`${at} does not match ${pattern}`]),
    propertyNames: () => [],
    maxProperties: () => [],
  };
  /** The complaints of the branch that came closest. */
  const oneOf = (schemas: readonly Schema[], value: unknown, at: string): readonly string[] => {
    const complaints = schemas.map((schema) => check(schema, value, at));
    return complaints.toSorted((a, b) => a.length - b.length)[0] ?? [];
  };
  const check = (schema: Schema, value: unknown, at: string): readonly string[] => {
    if (value === null && schema['nullable'] === true) return [];
    return Object.entries(schema).flatMap(([keyword, wanted]) => {
      if (ignored.has(keyword) || keyword.startsWith('x-')) return [];
      const one = checks[keyword];
      if (one === undefined) throw new Error(`the keyword ${keyword} is not known`);
      return one(wanted as never, value, at, schema);
    });
  };
  return check;
};

/** Checks values against a document below `test/specs`; throws with everything that is wrong. */
export const specOf = (name: string): ((schema: string, value: unknown) => void) => checkerOf(JSON.parse(readFileSync(new URL(`../specs/${name}.json`, import.meta.url), 'utf8')) as Document);

/** The same for a document that is at hand. */
export const checkerOf = (document: Document): ((schema: string, value: unknown) => void) => {
  const check = newValidator(document);
  return (schema, value) => {
    const problems = check({ $ref: `#/components/schemas/${schema}` }, value, schema);
    if (problems.length > 0) throw new Error(`${problems.join('\n')}\n${JSON.stringify(value).slice(0, 2000)}`);
  };
};
