import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unpackZstd } from '../../store/foreign/openclaw-state.ts';
import type { OpenclawAgentState } from '../../store/foreign/openclaw-state.ts';
import { isThere } from '../copy-folder.ts';
import { at, isRecord, parsed, wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';

/** A conversation of OpenClaw, wherever it is kept. */
export interface FoundSession {
  readonly foreignId: string;
  readonly key: string | undefined;
  /** What OpenClaw knows about its place. */
  readonly entry: Plain | undefined;
  /** Its place goes on with it. */
  readonly isCurrent: boolean;
  readonly updatedAtMs: number;
  /** For a transcript without any times. */
  readonly startedAtMs: number;
  /** Events as JSON. Rejects with a `StoreError` where they cannot be read. */
  lines(): Promise<Iterable<string>>;
}

const recordOf = (json: string | undefined): Plain | undefined => {
  const value = parsed(json);
  return isRecord(value) ? value : undefined;
};

/** Conversations in the database of an agent, those included that a place has left behind. */
export const sessionsInDatabase = (state: OpenclawAgentState): readonly FoundSession[] => [
  ...state.sessions().map(({ sessionId, sessionKey, entry, isCurrent, startedAtMs, updatedAtMs }) => ({ foreignId: sessionId, key: sessionKey, entry: recordOf(entry), isCurrent, startedAtMs, updatedAtMs, lines: () => Promise.resolve(state.events(sessionId)) })),
  ...state.archives().map(({ sessionId, sessionKey, entry, text }) => ({ foreignId: sessionId, key: sessionKey, entry: recordOf(entry), isCurrent: false, startedAtMs: 0, updatedAtMs: 0, lines: async () => text().split('\n') })),
];

interface Indexed {
  readonly key: string;
  readonly entry: Plain;
  readonly isCurrent: boolean;
}

/** By session id, and by the name of the file where it has one of its own. */
const readIndex = async (folder: string): Promise<ReadonlyMap<string, Indexed>> => {
  const path = join(folder, 'sessions.json');
  const written = (await isThere(path)) ? parsed(await readFile(path, 'utf8')) : {};
  const index = new Map<string, Indexed>();
  for (const [key, entry] of isRecord(written) ? Object.entries(written) : []) {
    const id = wordAt(entry, 'sessionId');
    if (id === undefined || !isRecord(entry)) continue;
    const former = at(entry, 'usageFamilySessionIds');
    for (const each of Array.isArray(former) ? former.map(String) : []) if (!index.has(each)) index.set(each, { key, entry, isCurrent: false });
    for (const each of [id, basename(wordAt(entry, 'sessionFile') ?? `${id}.jsonl`)]) index.set(each, { key, entry, isCurrent: true });
  }
  return index;
};

const fileShape = /^(.+?)(?:-topic-[^.]+)?\.jsonl(\.reset\.[^.]+(?:\.\d+Z)?)?(\.zst)?$/;

const linesOf = async (path: string): Promise<Iterable<string>> => {
  const bytes = await readFile(path);
  return (path.endsWith('.zst') ? unpackZstd(bytes) : bytes.toString('utf8')).split('\n');
};

/** Conversations in transcript files, those included that were put away when their place began a new one. */
export const sessionsInFiles = async (folder: string): Promise<readonly FoundSession[]> => {
  const index = await readIndex(folder);
  // A file that was put away comes after the one that is in use.
  const names = (await readdir(folder)).filter((name) => !/\.trajectory\.jsonl|\.checkpoint\./.test(name)).toSorted();
  return names.flatMap((name): FoundSession[] => {
    const [, foreignId, putAway] = fileShape.exec(name) ?? [];
    if (foreignId === undefined) return [];
    const known = index.get(name) ?? index.get(foreignId);
    const isCurrent = putAway === undefined && known?.isCurrent === true;
    const moment = (key: string): number => (isCurrent ? Number(known.entry[key]) || 0 : 0);
    return [{ foreignId, key: known?.key, entry: known?.entry, isCurrent, startedAtMs: moment('sessionStartedAt'), updatedAtMs: moment('updatedAt'), lines: () => linesOf(join(folder, name)) }];
  });
};
