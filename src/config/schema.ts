import { z } from 'zod';

type AnySchema = z.core.$ZodType;
type KnownSchema = z.core.$ZodTypes;
type Shape = Readonly<Record<string, AnySchema>>;

/** What a schema says about its setting, collected from the schema and everything it wraps. */
export interface SettingFacts {
  readonly env: string | undefined;
  readonly secret: boolean;
  readonly namesVariable: boolean;
  readonly aliases: readonly string[];
  readonly shorthand: string | undefined;
  readonly description: string | undefined;
  readonly default: { readonly value: unknown } | undefined;
  readonly optional: boolean;
  /** The schema below all wrappers: what a person writes. */
  readonly core: KnownSchema;
}

/** Zod's public classes are the members of this union, which can be told apart by `def.type`. */
const known = (schema: AnySchema): KnownSchema => schema as KnownSchema;

/** The schema one wrapper below, or undefined for one that wraps nothing. */
const inner = (schema: KnownSchema): AnySchema | undefined => {
  const { def } = schema._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return def.innerType;
    case 'pipe':
      return known(def.in)._zod.def.type === 'transform' ? def.out : def.in;
    case 'lazy':
      return def.getter();
    default:
      return undefined;
  }
};

export const factsOf = (schema: AnySchema): SettingFacts => {
  const layers: KnownSchema[] = [];
  for (let layer: AnySchema | undefined = schema; layer !== undefined; layer = inner(known(layer))) layers.push(known(layer));
  const metas = layers.map((layer) => z.globalRegistry.get(layer)).filter((meta) => meta !== undefined);
  const first = <T>(pick: (meta: z.core.GlobalMeta) => T | undefined): T | undefined => metas.map(pick).find((value) => value !== undefined);
  const fallback = layers.map((layer) => layer._zod.def).find((def) => def.type === 'default');
  return {
    env: first((meta) => meta.env),
    secret: first((meta) => meta.secret) ?? false,
    namesVariable: first((meta) => meta.namesVariable) ?? false,
    aliases: first((meta) => meta.aliases) ?? [],
    shorthand: first((meta) => meta.shorthand),
    description: first((meta) => meta.description),
    default: fallback === undefined ? undefined : { value: fallback.defaultValue },
    optional: layers.some((layer) => ['optional', 'default', 'prefault'].includes(layer._zod.def.type)),
    core: layers.at(-1) ?? known(schema),
  };
};

/** The keys of a mapping with fixed keys, or undefined for every other schema. */
export const shapeOf = (schema: AnySchema): Shape | undefined => {
  const { def } = factsOf(schema).core._zod;
  return def.type === 'object' ? def.shape : undefined;
};

/** Whether a mapping takes keys beyond its shape. */
export const isLoose = (schema: AnySchema): boolean => {
  const { def } = factsOf(schema).core._zod;
  return def.type === 'object' && def.catchall !== undefined && known(def.catchall)._zod.def.type !== 'never';
};

/** The schema of a part, where the path says which; of a union the first option that has the part. */
export const childSchema = (schema: AnySchema, step: string | number): AnySchema | undefined => {
  const { def } = factsOf(schema).core._zod;
  switch (def.type) {
    case 'object':
      return Object.hasOwn(def.shape, step) ? def.shape[step] : def.catchall;
    case 'record':
      return def.valueType;
    case 'array':
      return def.element;
    case 'union':
      return def.options.map((option) => childSchema(option, step)).find((child) => child !== undefined);
    default:
      return undefined;
  }
};

export const schemaAt = (schema: AnySchema, path: readonly (string | number)[]): AnySchema | undefined =>
  path.reduce<AnySchema | undefined>((current, step) => (current === undefined ? undefined : childSchema(current, step)), schema);

/** The variable's name for a given platform; sections have none and use the name as it is. */
export const variableName = (env: string, platform: string | undefined): string =>
  platform === undefined ? env : env.replace('<PLATFORM>', platform.toUpperCase().replaceAll('-', '_'));

export interface Setting {
  readonly path: readonly string[];
  readonly schema: AnySchema;
  readonly facts: SettingFacts;
}

/** Every setting a person can write, leaves only; `<name>` and `[]` stand for keys and positions of their own choice. */
export function* settingsOf(schema: AnySchema, path: readonly string[] = []): Generator<Setting> {
  const facts = factsOf(schema);
  const { def } = facts.core._zod;
  switch (def.type) {
    case 'object':
      if (facts.env !== undefined) yield { path, schema, facts };
      for (const [key, child] of Object.entries(def.shape)) yield* settingsOf(child, [...path, key]);
      return;
    case 'record':
      if (isMapping(def.valueType)) yield* settingsOf(def.valueType, [...path, '<name>']);
      else yield { path, schema, facts };
      return;
    case 'array':
      if (isMapping(def.element)) yield* settingsOf(def.element, [...path.slice(0, -1), `${path.at(-1) ?? ''}[]`]);
      else yield { path, schema, facts };
      return;
    default:
      yield { path, schema, facts };
  }
}

const isMapping = (schema: AnySchema): boolean => ['object', 'record'].includes(factsOf(schema).core._zod.def.type);

/** `text`, `whole number`, `pair | ignore`, `list of text`: what to write, in words. */
export const typeText = (schema: AnySchema): string => {
  const { def } = factsOf(schema).core._zod;
  switch (def.type) {
    case 'string':
    case 'template_literal':
      return 'text';
    case 'number':
    case 'bigint':
      return isWhole(def) ? 'whole number' : 'number';
    case 'boolean':
      return 'true or false';
    case 'enum':
      return Object.values(def.entries).join(' | ');
    case 'literal':
      return def.values.map(String).join(' | ');
    case 'array':
      return `list of ${typeText(def.element)}`;
    case 'object':
      return 'mapping';
    case 'record':
      return `mapping of ${typeText(def.valueType)}`;
    case 'union':
      return [...new Set(def.options.map(typeText))].join(' or ');
    case 'null':
      return 'nothing';
    default:
      return 'any value';
  }
};

const isWhole = (def: z.core.$ZodTypeDef): boolean => {
  const formats = [def, ...(def.checks ?? []).map((check) => check._zod.def)];
  return def.type === 'bigint' || formats.some((entry) => 'format' in entry && typeof entry.format === 'string' && entry.format.includes('int'));
};
