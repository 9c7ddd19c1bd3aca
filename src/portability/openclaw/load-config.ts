import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { isThere } from '../copy-folder.ts';
import type { ImportReport } from '../import-report.ts';
import { at, isRecord } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';
import { parseJson5 } from './parse-json5.ts';

/** The configuration of an OpenClaw, put together from its files. */
export interface OpenclawConfig {
  readonly root: Plain;
  /** What its `.env` and its own `env` set. */
  readonly variables: ReadonlyMap<string, string>;
}

/** Its names over the years. */
const configNames = ['openclaw.json', 'clawdbot.json', 'moltbot.json'] as const;
const mostLevels = 10;

export const configFileOf = async (folder: string): Promise<string | undefined> => {
  for (const name of configNames) if (await isThere(join(folder, name))) return join(folder, name);
  return undefined;
};

/** Lists are put one after the other, of everything else the later one wins. */
const merge = (first: unknown, second: unknown): unknown => {
  if (Array.isArray(first) && Array.isArray(second)) return [...(first as unknown[]), ...(second as unknown[])];
  if (!isRecord(first) || !isRecord(second)) return second;
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second).map(([key, value]) => [key, Object.hasOwn(first, key) ? merge(first[key], value) : value] as const)]);
};

interface Reading {
  readonly folder: string;
  readonly report: ImportReport;
}

const leave = ({ report }: Reading, what: string, why: string): void => report.add({ area: 'config', fate: 'left', what, why });

const readInclude = async (path: string, above: readonly string[], reading: Reading): Promise<unknown> => {
  const name = relative(reading.folder, path);
  const real = (await isThere(path)) ? await realpath(path) : path;
  const isOutside = relative(await realpath(reading.folder), real).startsWith('..');
  const why = above.includes(path) || above.length > mostLevels ? 'it includes itself' : isOutside ? 'it lies outside this folder' : real === path && !(await isThere(path)) ? 'it is not there' : undefined;
  if (why !== undefined) {
    leave(reading, `$include ${name}`, why);
    return {};
  }
  const content = parseJson5(await readFile(path, 'utf8'));
  if (content === undefined) leave(reading, `$include ${name}`, 'it cannot be read');
  return content === undefined ? {} : withIncludes(content, [...above, path], reading);
};

/** `$include` names one file or several, beside the one that it stands in; keys beside it win. */
const withIncludes = async (value: unknown, files: readonly string[], reading: Reading): Promise<unknown> => {
  if (Array.isArray(value)) return Promise.all(value.map((item) => withIncludes(item, files, reading)));
  if (!isRecord(value)) return value;
  const { $include: named, ...rest } = value;
  let result: unknown = {};
  for (const name of [named].flat().filter((each) => typeof each === 'string')) result = merge(result, await readInclude(resolve(dirname(files.at(-1) ?? ''), name), files, reading));
  if (!isRecord(result)) return result;
  const own = await Promise.all(Object.entries(rest).map(async ([key, each]) => [key, await withIncludes(each, files, reading)] as const));
  return merge(result, Object.fromEntries(own));
};

/** `${NAME}` becomes what it stands for; where that is not known it stays. */
const substituted = (value: unknown, variables: ReadonlyMap<string, string>): unknown => {
  if (typeof value === 'string') return value.replaceAll(/(\$?)\$\{([A-Z_][A-Z0-9_]*)\}/g, (all, escape: string, name: string) => (escape === '' ? (variables.get(name) ?? all) : all.slice(1)));
  if (Array.isArray(value)) return value.map((item) => substituted(item, variables));
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, substituted(each, variables)])) : value;
};

/** For its own program, or for every program of the machine. */
const isOfNoUse = (name: string): boolean => /^(?:OPENCLAW|CLAWDBOT|MOLTBOT|NODE|npm)_|^(?:PATH|HOME|SHELL|USER|LANG)$/.test(name);

const variablesOf = (root: unknown, env: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const written = [at(root, 'env'), at(root, 'env', 'vars')].flatMap((block) => (isRecord(block) ? Object.entries(block) : []));
  const own = written.filter((entry): entry is [string, string] => /^[A-Z][A-Z0-9_]*$/.test(entry[0]) && typeof entry[1] === 'string');
  return new Map([...own, ...env].filter(([name, value]) => value !== '' && !isOfNoUse(name)));
};

/** Reads `openclaw.json` with what it includes, beside what its `.env` holds. What cannot be read is reported and left out. */
export const loadOpenclawConfig = async (folder: string, env: ReadonlyMap<string, string>, report: ImportReport): Promise<OpenclawConfig> => {
  const reading = { folder, report };
  const path = await configFileOf(folder);
  const written = path === undefined ? {} : parseJson5(await readFile(path, 'utf8'));
  if (!isRecord(written)) leave(reading, relative(folder, path ?? ''), 'it cannot be read');
  const root = await withIncludes(isRecord(written) ? written : {}, [path ?? join(folder, configNames[0])], reading);
  const variables = variablesOf(root, env);
  const whole = substituted(root, variables);
  return { root: isRecord(whole) ? whole : {}, variables };
};
