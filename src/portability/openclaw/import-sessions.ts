import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { SessionSharing } from '../../core/session-key.ts';
import { importSession } from '../../store/foreign/imported-session.ts';
import type { ImportedSession } from '../../store/foreign/imported-session.ts';
import { openOpenclawAgent } from '../../store/foreign/openclaw-state.ts';
import { isThere } from '../copy-folder.ts';
import type { ImportReport } from '../import-report.ts';
import { wordAt } from '../plain-json.ts';
import type { Attempt } from '../try-out.ts';
import type { OpenclawAgent } from './agents.ts';
import { sessionsInDatabase, sessionsInFiles } from './find-sessions.ts';
import type { FoundSession } from './find-sessions.ts';
import { bindingOf, isInternal, placeOfSession } from './place-of-session.ts';
import { readLines, readTranscript } from './read-transcript.ts';
import type { Transcript } from './read-transcript.ts';

export interface SessionsOptions {
  readonly attempt: Attempt;
  readonly report: ImportReport;
  /** Who shares a conversation here. */
  readonly sharing: SessionSharing;
  readonly signal: AbortSignal;
}

const pad = (value: number): string => String(value).padStart(2, '0');

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The same for the same conversation whenever it is read, and in the form that ids have here. */
const idOf = (foreignId: string, startedAtMs: number): string => {
  const date = new Date(startedAtMs);
  const hex = (uuid.test(foreignId) ? foreignId : createHash('sha256').update(foreignId).digest('hex')).slice(0, 8).toLowerCase();
  return `${date.getUTCFullYear()}${pad(date.getUTCMonth() + 1)}${pad(date.getUTCDate())}_${pad(date.getUTCHours())}${pad(date.getUTCMinutes())}${pad(date.getUTCSeconds())}_${hex}`;
};

const sessionOf = (found: FoundSession, transcript: Transcript, to: { readonly agent: string; readonly sharing: SessionSharing }): ImportedSession => {
  const { entry, isCurrent } = found;
  const place = placeOfSession(found.key, entry);
  const createdAtMs = transcript.startedAtMs ?? found.startedAtMs;
  const endedAtMs = !isCurrent ? (transcript.messages.at(-1)?.createdAtMs ?? createdAtMs) : undefined;
  return {
    id: idOf(found.foreignId, createdAtMs),
    agent: to.agent,
    account: place.account,
    chatType: place.chatType,
    userId: place.userId,
    title: isCurrent ? (wordAt(entry, 'label') ?? wordAt(entry, 'subject'))?.slice(0, 100).toWellFormed() : undefined,
    model: transcript.model,
    parentId: undefined,
    createdAtMs,
    endedAtMs,
    endReason: endedAtMs === undefined ? undefined : 'new',
    usage: transcript.usage,
    binding: !isCurrent ? undefined : bindingOf(place, to.agent, to.sharing),
  };
};

interface Run extends SessionsOptions {
  readonly tally: Tally;
  /** Places that go on with a conversation of this import. */
  readonly places: Set<string>;
}

interface Tally {
  taken: number;
  messages: number;
  bound: number;
  known: number;
  internal: number;
}

/** What cannot be read is named, and holds up nothing else. */
const orLeave = async <T>(what: string, work: () => Promise<T>, report: ImportReport): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    report.add({ area: 'sessions', fate: 'left', what, why: error.message });
    return undefined;
  }
};

/** True when the conversation is here now, or was. */
const importOne = async (found: FoundSession, agent: string, to: Run): Promise<boolean> => {
  const lines = await orLeave(`conversation ${found.foreignId}`, () => found.lines(), to.report);
  const transcript = readTranscript(readLines(lines ?? []));
  if (transcript.messages.length === 0) return false;
  const whole = sessionOf(found, transcript, { agent, sharing: to.sharing });
  const session = whole.binding !== undefined && to.places.has(whole.binding.sessionKey) ? { ...whole, binding: undefined } : whole;
  if (session.binding !== undefined) to.places.add(session.binding.sessionKey);
  const done = await to.attempt((tx) => importSession(tx, session, transcript.messages));
  if (done === undefined) {
    to.tally.known += 1;
    return true;
  }
  to.tally.taken += 1;
  to.tally.messages += done.messages;
  to.tally.bound += done.bound ? 1 : 0;
  if (done.renamedTo !== undefined) to.report.add({ area: 'sessions', fate: 'changed', what: `${session.id} is called ${JSON.stringify(done.renamedTo)}`, why: `another conversation here has the title ${JSON.stringify(session.title)}` });
  return true;
};

/** Newest first: of two conversations that would go on in one place, the newer one does. What has been read from a database is not read from a file too. */
const importAll = async (sessions: readonly FoundSession[], agent: OpenclawAgent, to: Run & { readonly seen: Set<string> }): Promise<void> => {
  for (const found of sessions.toSorted((a, b) => b.updatedAtMs - a.updatedAtMs)) {
    to.signal.throwIfAborted();
    if (to.seen.has(found.foreignId)) continue;
    if (found.key !== undefined && isInternal(found.key)) to.tally.internal += 1;
    else if (!(await importOne(found, agent.as, to))) continue;
    to.seen.add(found.foreignId);
  }
};

/** The databases of an agent, by their paths in its folder. */
export const agentDatabases = async (folder: string, agent: OpenclawAgent): Promise<readonly string[]> => {
  const root = join(folder, 'agents', agent.id);
  if (!(await isThere(root))) return [];
  return (await readdir(root, { recursive: true })).filter((name) => /(?:^|[\\/])openclaw-agent(?:\.[\w-]+)?\.sqlite$/.test(name)).toSorted().map((name) => join(root, name));
};

const importAgent = async (folder: string, agent: OpenclawAgent, to: Run): Promise<void> => {
  const seen = new Set<string>();
  for (const path of await agentDatabases(folder, agent)) {
    await using state = await orLeave(path.slice(folder.length + 1), () => openOpenclawAgent(path), to.report);
    if (state !== undefined) await importAll(sessionsInDatabase(state), agent, { ...to, seen });
  }
  const files = join(folder, 'agents', agent.id, 'sessions');
  if (!(await isThere(files))) return;
  await importAll(await sessionsInFiles(files), agent, { ...to, seen });
  const deleted = (await readdir(files)).filter((name) => name.includes('.jsonl.deleted.')).length;
  if (deleted > 0) to.report.add({ area: 'sessions', fate: 'left', what: `agents/${agent.id}: conversations: ${deleted}`, why: 'they were deleted there' });
};

/** Takes conversations over, from databases and from transcript files. Those that are here already stay as they are. */
export const importSessions = async (folder: string, agents: readonly OpenclawAgent[], options: SessionsOptions): Promise<void> => {
  const { report } = options;
  const tally: Tally = { taken: 0, messages: 0, bound: 0, known: 0, internal: 0 };
  const places = new Set<string>();
  for (const agent of agents) await importAgent(folder, agent, { ...options, tally, places });
  if (tally.taken > 0) report.add({ area: 'sessions', fate: 'taken', what: `conversations: ${tally.taken}, with messages: ${tally.messages}; going on where they were: ${tally.bound}; /resume goes on with the others` });
  if (tally.known > 0) report.add({ area: 'sessions', fate: 'known', what: `conversations: ${tally.known}` });
  if (tally.internal > 0) report.add({ area: 'sessions', fate: 'left', what: `runs of jobs, helpers and hooks: ${tally.internal}`, why: 'nobody took part in them' });
};
