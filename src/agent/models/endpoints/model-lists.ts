import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { writeAtomically } from '../../../lib/write-atomically.ts';
import { countOf, listOf, recordOf, textOf } from '../wires/json-fields.ts';
import type { EndpointAddress } from './create-provider.ts';
import { listModels } from './list-models.ts';
import type { Fetch, ListedModel } from './list-models.ts';

interface Entry {
  readonly atMs: number;
  readonly models: readonly ListedModel[];
}

/** The lists of models of every endpoint that was asked, kept in memory and below the home. */
export interface ModelLists {
  /** Not older than an hour, unless the endpoint cannot be asked; then the last one there was. Rejects when there was none. */
  list(address: EndpointAddress, signal: AbortSignal): Promise<readonly ListedModel[]>;
  /** What is known about a model without asking anybody. */
  find(baseUrl: string, model: string): ListedModel | undefined;
}

const expiryMs = 3_600_000;
const maxEndpoints = 20;

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const readEntry = (value: unknown): Entry | undefined => {
  const entry = recordOf(value);
  const atMs = countOf(entry?.['atMs']);
  if (atMs === undefined) return undefined;
  const models = (listOf(entry?.['models']) ?? []).flatMap((each): readonly ListedModel[] => {
    const id = textOf(recordOf(each)?.['id']);
    const contextTokens = countOf(recordOf(each)?.['contextTokens']);
    return id === undefined ? [] : [{ id, ...(contextTokens !== undefined && { contextTokens }) }];
  });
  return { atMs, models };
};

/** A file that is missing or not ours is an empty one: all of it can be asked again. */
const readCache = async (path: string, log: Logger): Promise<Map<string, Entry>> => {
  try {
    const stored = recordOf(JSON.parse(await readFile(path, 'utf8'))) ?? {};
    const entries = Object.entries(stored).map(([url, value]): [string, Entry | undefined] => [url, readEntry(value)]);
    return new Map(entries.filter((entry): entry is [string, Entry] => entry[1] !== undefined));
  } catch (error) {
    if (!isMissing(error)) log.warn({ err: error }, 'models.cache_unreadable');
    return new Map();
  }
};

const writeCache = async (path: string, entries: ReadonlyMap<string, Entry>): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeAtomically(path, JSON.stringify(Object.fromEntries(entries)));
};

const newest = (entries: ReadonlyMap<string, Entry>): Map<string, Entry> => new Map([...entries].toSorted(([, a], [, b]) => b.atMs - a.atMs).slice(0, maxEndpoints));

/** The name of an endpoint in the file. A query may hold a key, so only its fingerprint is written. */
const nameOf = (baseUrl: string): string => {
  const query = URL.parse(baseUrl)?.search ?? '';
  return query === '' ? baseUrl : baseUrl.replace(query, `?${createHash('sha256').update(query).digest('hex').slice(0, 16)}`);
};

export const newModelLists = (deps: { readonly home: string; readonly clock: Clock; readonly log: Logger; readonly fetch: Fetch }): ModelLists => {
  const { clock, log } = deps;
  const path = join(deps.home, 'cache', 'models.json');
  let entries: Map<string, Entry> = new Map();
  let loading: Promise<void> | undefined;

  const load = (): Promise<void> =>
    (loading ??= readCache(path, log).then((stored) => {
      entries = newest(new Map([...stored, ...entries]));
    }));

  const keep = async (baseUrl: string, models: readonly ListedModel[]): Promise<void> => {
    entries = newest(new Map([...entries, [nameOf(baseUrl), { atMs: clock.now(), models }]]));
    try {
      await writeCache(path, entries);
    } catch (error) {
      // The list itself is there; only the next start has to ask again.
      log.warn({ err: error }, 'models.cache_unwritable');
    }
  };

  return {
    async list(address, signal) {
      await load();
      const known = entries.get(nameOf(address.baseUrl));
      if (known !== undefined && clock.now() - known.atMs < expiryMs) return known.models;
      try {
        const models = await listModels(address, deps, signal);
        await keep(address.baseUrl, models);
        return models;
      } catch (error) {
        if (known === undefined || signal.aborted) throw error;
        log.info({ err: error, endpoint: address.provider }, 'models.list_stale');
        return known.models;
      }
    },
    find: (baseUrl, model) => entries.get(nameOf(baseUrl))?.models.find(({ id }) => id === model),
  };
};
