import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChatType, Target } from '../../core/message.ts';
import { keyOfAgent, parseSessionKey } from '../../core/session-key.ts';
import type { Usage } from '../../core/transcript.ts';
import { importSession } from '../../store/foreign/imported-session.ts';
import type { ImportedMessage, ImportedSession } from '../../store/foreign/imported-session.ts';
import { openOriginalState } from '../../store/foreign/original-state.ts';
import type { OriginalRow, OriginalState } from '../../store/foreign/original-state.ts';
import { isThere } from '../copy-folder.ts';
import type { ImportReport } from '../import-report.ts';
import { at, isRecord, parsed, wordAt } from '../plain-json.ts';
import type { Attempt } from '../try-out.ts';
import { legacyTranscripts, sessionRowOf } from './legacy-transcripts.ts';
import { messageOfRow, msIn, numberIn, textIn } from './message-of-row.ts';

interface Place {
  readonly sessionKey: string | undefined;
  readonly origin: Readonly<Record<string, unknown>>;
}

const textFrom = (record: Readonly<Record<string, unknown>>, key: string): string | undefined => {
  const value = record[key];
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;
};

/** The conversation of each place, from the index file and from the table that took its place, which wins; by session id. */
const placesOf = async (folder: string, state: OriginalState | undefined): Promise<ReadonlyMap<string, Place>> => {
  const index = await readFile(join(folder, 'sessions', 'sessions.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  const written = parsed(index);
  const inFile = isRecord(written) ? Object.entries(written).filter(([key]) => !key.startsWith('_')) : [];
  const inTable = (state?.routing() ?? []).map((row): [string, unknown] => [textIn(row, 'session_key') ?? '', parsed(row['entry_json'])]);
  const entries = new Map<string, unknown>([...inFile, ...inTable]);
  return new Map(
    [...entries].flatMap(([sessionKey, entry]) => {
      const id = wordAt(entry, 'session_id');
      const origin = at(entry, 'origin');
      return id === undefined ? [] : [[id, { sessionKey, origin: isRecord(origin) ? origin : {} }] as const];
    }),
  );
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

/** Where the conversation is now, which need not be where it began. */
const sourceOf = (row: OriginalRow, place: Place): string => textFrom(place.origin, 'platform') ?? textIn(row, 'source') ?? 'local';

const targetOf = (row: OriginalRow, place: Place, chatType: ChatType): Target | undefined => {
  const { origin } = place;
  const chatId = textFrom(origin, 'chat_id') ?? textIn(row, 'chat_id');
  if (chatId === undefined) return undefined;
  const threadId = textFrom(origin, 'thread_id') ?? textIn(row, 'thread_id');
  const scopeId = textFrom(origin, 'scope_id') ?? textFrom(origin, 'guild_id');
  return { account: accountOf(sourceOf(row, place)), chatId, chatType, ...(threadId !== undefined && { threadId }), ...(scopeId !== undefined && { scopeId }) };
};

/** Ends that nobody wanted: the process went away, and the original goes on with the conversation. */
const accidents = new Set(['agent_close', 'ws_orphan_reap', 'superseded_by_resume', 'startup_orphan_reap', 'tui_shutdown', 'ws_disconnect', 'idle_timeout', 'lru_evict']);

const endOf = (row: OriginalRow): number | undefined => (accidents.has(textIn(row, 'end_reason') ?? '') ? undefined : msIn(row, 'ended_at'));

/** Keys have the same form here; only a terminal is called otherwise, and its places are not kept. */
const bindingOf = (row: OriginalRow, place: Place, { chatType, key }: { readonly chatType: ChatType; readonly key: string | undefined }): ImportedSession['binding'] => {
  const known = key === undefined ? undefined : parseSessionKey(key);
  const target = targetOf(row, place, chatType);
  if (key === undefined || known === undefined || target === undefined || endOf(row) !== undefined || known.account !== target.account) return undefined;
  return { sessionKey: key, target };
};

interface Found {
  readonly session: ImportedSession;
  /** Of the place where it was. */
  readonly key: string | undefined;
  /** The original says that its place goes on with it. */
  readonly isIndexed: boolean;
}

const foundIn = (row: OriginalRow, place: Place, wanted: string | undefined): Found => {
  const own = parsed(row['origin_json']);
  const origin: Place['origin'] = { ...(isRecord(own) ? own : {}), ...place.origin };
  const source = sourceOf(row, place);
  const written = place.sessionKey ?? textIn(row, 'session_key');
  const known = written === undefined ? undefined : parseSessionKey(written);
  const chatType = known?.chatType ?? chatTypes[textIn(row, 'chat_type') ?? textFrom(origin, 'chat_type') ?? 'dm'] ?? 'group';
  const agent = wanted ?? textIn(row, 'agent_id') ?? known?.agent ?? 'main';
  const createdAtMs = msIn(row, 'started_at') ?? 0;
  const endedAtMs = endOf(row);
  const key = keyOfAgent(written ?? '', agent);
  const session: ImportedSession = {
    id: textIn(row, 'id') ?? '',
    agent,
    account: accountOf(source),
    chatType,
    userId: terminals.has(source) ? 'owner' : (textFrom(place.origin, 'user_id') ?? textIn(row, 'user_id') ?? textFrom(origin, 'user_id')),
    title: textIn(row, 'title')?.slice(0, 100).toWellFormed(),
    model: textIn(row, 'model'),
    parentId: textIn(row, 'parent_session_id'),
    createdAtMs,
    endedAtMs,
    endReason: endedAtMs === undefined ? undefined : (endReasons[textIn(row, 'end_reason') ?? ''] ?? 'imported'),
    usage: usageOf(row),
    binding: bindingOf(row, { ...place, origin: { ...origin, platform: source } }, { chatType, key }),
  };
  return { session, key, isIndexed: place.sessionKey !== undefined };
};

/** A place goes on with the conversation that the original names for it, or else with its newest, unless that was ended on purpose. */
const boundOnce = (found: readonly Found[]): readonly ImportedSession[] => {
  const isNamed = (each: Found | undefined): boolean => each?.isIndexed === true && each.session.binding !== undefined;
  const chosen = new Map<string, Found>();
  for (const each of found) if (each.key !== undefined && (isNamed(each) || !isNamed(chosen.get(each.key)))) chosen.set(each.key, each);
  return found.map(({ session, key }) => (session.binding === undefined || (key !== undefined && chosen.get(key)?.session.id === session.id) ? session : { ...session, binding: undefined }));
};

/** Work that an agent gave to a helper: no person took part in it. */
const isOfHelper = (row: OriginalRow): boolean => {
  const source = textIn(row, 'source');
  const parent = textIn(row, 'parent_session_id');
  return source === 'subagent' || source === 'tool' || (parent !== undefined && wordAt(parsed(row['model_config']), '_delegate_from') === parent);
};

interface Sources {
  readonly state: OriginalState | undefined;
  readonly files: ReadonlyMap<string, readonly OriginalRow[]>;
}

/** From the database; from a file where the database has nothing. */
function* rowsOf({ state, files }: Sources, id: string): Generator<OriginalRow> {
  let isEmpty = true;
  for (const row of state?.messages(id) ?? []) {
    isEmpty = false;
    yield row;
  }
  if (isEmpty) yield* files.get(id) ?? [];
}

function* messagesOf(sources: Sources, session: ImportedSession, skipped: { count: number }): Generator<ImportedMessage> {
  skipped.count = 0;
  for (const row of rowsOf(sources, session.id)) {
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
  /** Taken conversations of agents that there are not. */
  readonly waiting: Map<string, number>;
}

interface SessionsOptions {
  readonly attempt: Attempt;
  readonly report: ImportReport;
  readonly agent?: string | undefined;
  isAgent(id: string): boolean;
}

const importOne = async (sources: Sources, session: ImportedSession, to: SessionsOptions & { readonly tally: Tally }): Promise<void> => {
  const { attempt, report, tally } = to;
  const skipped = { count: 0 };
  const done = await attempt((tx) => importSession(tx, session, messagesOf(sources, session, skipped)));
  if (done === undefined) {
    tally.known += 1;
    return;
  }
  tally.sessions += 1;
  tally.messages += done.messages;
  tally.bound += done.bound ? 1 : 0;
  tally.skipped += skipped.count;
  if (!to.isAgent(session.agent)) tally.waiting.set(session.agent, (tally.waiting.get(session.agent) ?? 0) + 1);
  if (done.renamedTo !== undefined) report.add({ area: 'sessions', fate: 'changed', what: `${session.id} is called ${JSON.stringify(done.renamedTo)}`, why: `another conversation here has the title ${JSON.stringify(session.title)}` });
};

/** Takes conversations over from the original's `state.db` and from files of before; those that are here already stay as they are. */
export const importSessions = async (folder: string, options: SessionsOptions): Promise<void> => {
  const { report } = options;
  const path = join(folder, 'state.db');
  await using state = (await isThere(path)) ? await openOriginalState(path) : undefined;
  const files = await legacyTranscripts(folder);
  const places = await placesOf(folder, state);
  const nowhere: Place = { sessionKey: undefined, origin: {} };
  const stored = state?.sessions() ?? [];
  const known = new Set(stored.map(({ id }) => id));
  const inFiles = [...files].filter(([id, lines]) => !known.has(id) && lines.some(({ role }) => role === 'user' || role === 'assistant')).map(([id, lines]) => sessionRowOf(id, lines, textFrom(places.get(id)?.origin ?? {}, 'platform') ?? 'cli'));
  const [helpers, rows] = [stored.filter(isOfHelper), [...inFiles, ...stored.filter((row) => !isOfHelper(row))]];
  const sessions = boundOnce(rows.map((row) => foundIn(row, places.get(textIn(row, 'id') ?? '') ?? nowhere, options.agent)));
  const tally: Tally = { sessions: 0, messages: 0, bound: 0, known: 0, skipped: 0, waiting: new Map() };
  for (const session of sessions) await importOne({ state, files }, session, { ...options, tally });
  if (tally.sessions > 0) report.add({ area: 'sessions', fate: 'taken', what: `conversations: ${tally.sessions}, with messages: ${tally.messages}; going on where they were: ${tally.bound}` });
  if (tally.known > 0) report.add({ area: 'sessions', fate: 'known', what: `conversations: ${tally.known}` });
  for (const [agent, count] of tally.waiting) report.add({ area: 'sessions', fate: 'changed', what: `conversations of the agent ${agent}: ${count}`, why: `there is no such agent here; with hermes agent add ${agent} they go on` });
  if (helpers.length > 0) report.add({ area: 'sessions', fate: 'left', what: `runs of helpers: ${helpers.length}`, why: 'nobody took part in them' });
  if (tally.skipped > 0) report.add({ area: 'sessions', fate: 'left', what: `rows that are no messages: ${tally.skipped}`, why: 'system prompts and notes of the original are made anew here' });
};
