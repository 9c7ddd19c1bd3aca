import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChatType, Target } from '../../core/message.ts';
import { keyOfAgent, parseSessionKey } from '../../core/session-key.ts';
import type { Usage } from '../../core/transcript.ts';
import { importSession } from '../../store/imported-session.ts';
import type { ImportedMessage, ImportedSession } from '../../store/imported-session.ts';
import { openOriginalState } from '../../store/original-state.ts';
import type { OriginalRow, OriginalState } from '../../store/original-state.ts';
import type { Writing } from '../../store/store.ts';
import type { ImportReport } from '../import-report.ts';
import { messageOfRow, msIn, numberIn, parsed, textIn } from './message-of-row.ts';

/** Carries a change out, or only sees what would come of it. */
export type Attempt = <T>(work: (tx: Writing) => Promise<T>) => Promise<T>;

interface Place {
  readonly sessionKey: string | undefined;
  readonly origin: Readonly<Record<string, unknown>>;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

const textFrom = (record: Readonly<Record<string, unknown>>, key: string): string | undefined => {
  const value = record[key];
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;
};

/** The conversation of each place, from the index file and from the table that took its place. */
const placesOf = async (folder: string, state: OriginalState): Promise<ReadonlyMap<string, Place>> => {
  const places = new Map<string, Place>();
  const add = (key: string, entry: unknown): void => {
    const id = isRecord(entry) ? textFrom(entry, 'session_id') : undefined;
    if (id !== undefined && isRecord(entry)) places.set(id, { sessionKey: key, origin: isRecord(entry['origin']) ? entry['origin'] : {} });
  };
  const index = await readFile(join(folder, 'sessions', 'sessions.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  const written = parsed(index);
  if (isRecord(written)) for (const [key, entry] of Object.entries(written)) if (!key.startsWith('_')) add(key, entry);
  for (const row of state.routing()) add(textIn(row, 'session_key') ?? '', parsed(row['entry_json']));
  return places;
};

const terminals = new Set(['cli', 'tui', 'local', 'acp', 'desktop']);

/** The terminal is an account here, and its owner has a name. */
const accountOf = (source: string): string => (terminals.has(source) ? 'local' : source);

const chatTypes: Readonly<Record<string, ChatType>> = { dm: 'dm', private: 'dm', direct: 'dm', group: 'group', forum: 'group', supergroup: 'group', channel: 'channel', thread: 'thread' };

const endReasons: Readonly<Record<string, string>> = { session_reset: 'new', new_session: 'new', idle: 'idle', daily: 'daily', session_switch: 'switched', branched: 'branched' };

const usageOf = (row: OriginalRow): Usage => {
  const usd = numberIn(row, 'actual_cost_usd') || numberIn(row, 'estimated_cost_usd');
  return {
    inputTokens: numberIn(row, 'input_tokens'),
    outputTokens: numberIn(row, 'output_tokens'),
    cacheReadTokens: numberIn(row, 'cache_read_tokens'),
    cacheWriteTokens: numberIn(row, 'cache_write_tokens'),
    reasoningTokens: numberIn(row, 'reasoning_tokens'),
    ...(usd > 0 && { cost: { usd, status: numberIn(row, 'actual_cost_usd') > 0 ? 'actual' : 'estimated' } as const }),
  };
};

const targetOf = (row: OriginalRow, origin: Place['origin'], chatType: ChatType): Target | undefined => {
  const chatId = textIn(row, 'chat_id') ?? textFrom(origin, 'chat_id');
  if (chatId === undefined) return undefined;
  const threadId = textIn(row, 'thread_id') ?? textFrom(origin, 'thread_id');
  const scopeId = textFrom(origin, 'scope_id') ?? textFrom(origin, 'guild_id');
  return { account: accountOf(textIn(row, 'source') ?? ''), chatId, chatType, ...(threadId !== undefined && { threadId }), ...(scopeId !== undefined && { scopeId }) };
};

/** Keys have the same form here; only a terminal is called otherwise, and its places are not kept. */
const bindingOf = (row: OriginalRow, place: Place, at: { readonly chatType: ChatType; readonly agent: string }): ImportedSession['binding'] => {
  const key = keyOfAgent(textIn(row, 'session_key') ?? place.sessionKey ?? '', at.agent);
  const known = key === undefined ? undefined : parseSessionKey(key);
  const target = targetOf(row, place.origin, at.chatType);
  if (key === undefined || known === undefined || target === undefined || row['ended_at'] !== null || known.account !== target.account) return undefined;
  return { sessionKey: key, target };
};

const sessionOfRow = (row: OriginalRow, place: Place, wanted: string | undefined): ImportedSession => {
  const source = textIn(row, 'source') ?? 'local';
  const origin = { ...place.origin, ...(isRecord(parsed(row['origin_json'])) ? (parsed(row['origin_json']) as Place['origin']) : {}) };
  const key = textIn(row, 'session_key') ?? place.sessionKey;
  const known = key === undefined ? undefined : parseSessionKey(key);
  const chatType = known?.chatType ?? chatTypes[textIn(row, 'chat_type') ?? textFrom(origin, 'chat_type') ?? 'dm'] ?? 'group';
  const agent = wanted ?? textIn(row, 'agent_id') ?? known?.agent ?? 'main';
  const createdAtMs = msIn(row, 'started_at') ?? 0;
  const endedAtMs = msIn(row, 'ended_at');
  return {
    id: textIn(row, 'id') ?? '',
    agent,
    account: accountOf(source),
    chatType,
    userId: terminals.has(source) ? 'owner' : (textIn(row, 'user_id') ?? textFrom(origin, 'user_id')),
    title: textIn(row, 'title')?.slice(0, 100).toWellFormed(),
    model: textIn(row, 'model'),
    parentId: textIn(row, 'parent_session_id'),
    createdAtMs,
    endedAtMs,
    endReason: endedAtMs === undefined ? undefined : (endReasons[textIn(row, 'end_reason') ?? ''] ?? 'imported'),
    usage: usageOf(row),
    binding: bindingOf(row, { ...place, origin }, { chatType, agent }),
  };
};

/** Of several open conversations of a place the newest is the one that goes on. */
const onlyNewestBound = (sessions: readonly ImportedSession[]): readonly ImportedSession[] => {
  const newest = new Map(sessions.flatMap(({ id, binding }) => (binding === undefined ? [] : [[binding.sessionKey, id] as const])));
  return sessions.map((session) => (session.binding !== undefined && newest.get(session.binding.sessionKey) !== session.id ? { ...session, binding: undefined } : session));
};

function* messagesOf(state: OriginalState, session: ImportedSession, skipped: { count: number }): Generator<ImportedMessage> {
  skipped.count = 0;
  for (const row of state.messages(session.id)) {
    const message = messageOfRow(row, session.createdAtMs);
    if (message === undefined) skipped.count += 1;
    else yield message;
  }
}

interface Tally {
  sessions: number;
  messages: number;
  bound: number;
  known: number;
  skipped: number;
}

const importOne = async (state: OriginalState, session: ImportedSession, to: { readonly attempt: Attempt; readonly report: ImportReport; readonly tally: Tally }): Promise<void> => {
  const { attempt, report, tally } = to;
  const skipped = { count: 0 };
  const done = await attempt((tx) => importSession(tx, session, messagesOf(state, session, skipped)));
  if (done === undefined) {
    tally.known += 1;
    return;
  }
  tally.sessions += 1;
  tally.messages += done.messages;
  tally.bound += done.bound ? 1 : 0;
  tally.skipped += skipped.count;
  if (done.renamedTo !== undefined) report.add({ area: 'sessions', fate: 'changed', what: `${session.id} is called ${JSON.stringify(done.renamedTo)}`, why: `another conversation here has the title ${JSON.stringify(session.title)}` });
};

/** Takes conversations over from the original's `state.db`; those that are here already stay as they are. */
export const importSessions = async (folder: string, options: { readonly attempt: Attempt; readonly report: ImportReport; readonly agent?: string | undefined }): Promise<void> => {
  const { attempt, report } = options;
  await using state = await openOriginalState(join(folder, 'state.db'));
  const places = await placesOf(folder, state);
  const nowhere: Place = { sessionKey: undefined, origin: {} };
  const rows = state.sessions();
  const sessions = onlyNewestBound(rows.map((row) => sessionOfRow(row, places.get(textIn(row, 'id') ?? '') ?? nowhere, options.agent)));
  const tally: Tally = { sessions: 0, messages: 0, bound: 0, known: 0, skipped: 0 };
  for (const session of sessions) await importOne(state, session, { attempt, report, tally });
  if (tally.sessions > 0) report.add({ area: 'sessions', fate: 'taken', what: `conversations: ${tally.sessions}, with messages: ${tally.messages}; going on where they were: ${tally.bound}` });
  if (tally.known > 0) report.add({ area: 'sessions', fate: 'known', what: `conversations: ${tally.known}` });
  if (tally.skipped > 0) report.add({ area: 'sessions', fate: 'left', what: `rows that are no messages: ${tally.skipped}`, why: 'system prompts and notes of the original are made anew here' });
};
