import botApi from '../fixtures/bot-api.json' with { type: 'json' };
import { record } from '../wire.ts';
import type { CallBody } from './request-body.ts';

type Fields = Readonly<Record<string, string>>;

interface Description {
  readonly methods: Readonly<Record<string, Fields>>;
  readonly types: Readonly<Record<string, Fields | readonly string[]>>;
}

const description: Description = botApi;

const isScalar = (type: string): boolean => ['Integer', 'Float', 'String', 'Boolean', 'True', 'InputFile'].includes(type);

/** Forms carry objects and lists as JSON text. */
const decode = (value: unknown, types: readonly string[]): unknown => {
  if (typeof value !== 'string' || types.some(isScalar)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
};

const scalarFits = (value: unknown, type: string): boolean => {
  switch (type) {
    case 'Integer':
      return Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d+$/.test(value));
    case 'Float':
      return Number.isFinite(typeof value === 'string' ? Number(value) : value);
    case 'Boolean':
    case 'True':
      return value === true || value === 'true' || (type === 'Boolean' && (value === false || value === 'false'));
    default:
      return typeof value === 'string';
  }
};

const fieldProblems = (value: Readonly<Record<string, unknown>>, fields: Fields, path: string): readonly string[] => {
  const unknown = Object.keys(value).filter((name) => fields[name] === undefined);
  const known = Object.entries(fields).flatMap(([name, spec]) => {
    const given = value[name];
    if (given === undefined || given === null) return spec.startsWith('!') ? [`${path}.${name} is missing`] : [];
    return problems(given, spec.replace('!', '').split('|'), `${path}.${name}`);
  });
  return [...unknown.map((name) => `${path}.${name} does not exist`), ...known];
};

const problemsOfType = (value: unknown, type: string, path: string): readonly string[] => {
  if (type.startsWith('Array of ')) {
    if (!Array.isArray(value)) return [`${path} is not a list`];
    return value.flatMap((item: unknown, index) => problems(item, [type.slice('Array of '.length)], `${path}[${index}]`));
  }
  if (isScalar(type)) return scalarFits(value, type) ? [] : [`${path} is not ${type}`];
  const content = description.types[type];
  if (Array.isArray(content)) return problems(value, content as readonly string[], path);
  const object = record(value);
  return object === undefined ? [`${path} is not an object`] : fieldProblems(object, content as Fields, path);
};

/** What is wrong if the value fits none of the types: what the nearest one says. */
const problems = (value: unknown, types: readonly string[], path: string): readonly string[] => {
  let least: readonly string[] | undefined;
  for (const type of types) {
    const found = problemsOfType(value, type, path);
    if (found.length === 0) return [];
    if (least === undefined || found.length < least.length) least = found;
  }
  return least ?? [];
};

export const isMethod = (method: string): boolean => description.methods[method] !== undefined;

/** Checks a call against Telegram's own description and decodes its parameters. */
export const validate = (method: string, { params, files }: CallBody): { readonly params: Readonly<Record<string, unknown>>; readonly problems: readonly string[] } => {
  const fields = description.methods[method] ?? {};
  const uploads = Object.fromEntries([...files.keys()].filter((name) => fields[name] !== undefined).map((name) => [name, `attach://${name}`]));
  const decoded = Object.fromEntries(Object.entries({ ...params, ...uploads }).map(([name, value]) => [name, decode(value, fields[name]?.replace('!', '').split('|') ?? [])]));
  return { params: decoded, problems: fieldProblems(decoded, fields, method) };
};
