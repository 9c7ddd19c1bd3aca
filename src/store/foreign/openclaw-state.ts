import { zstdDecompressSync } from 'node:zlib';
import { StoreError } from '../../core/errors.ts';
import { openForeignDatabase } from './foreign-database.ts';
import type { ForeignDatabase, ForeignRow } from './foreign-database.ts';

/** One conversation in the database of an agent of OpenClaw. Times are in milliseconds. */
export interface OpenclawSessionRow {
  readonly sessionId: string;
  readonly sessionKey: string;
  /** What OpenClaw knows about its place, as JSON. */
  readonly entry: string | undefined;
  /** Its place goes on with it. */
  readonly isCurrent: boolean;
  readonly startedAtMs: number;
  readonly updatedAtMs: number;
}

/** A conversation that was put away when its place began a new one. */
export interface OpenclawArchive {
  readonly sessionId: string;
  readonly sessionKey: string;
  readonly entry: string | undefined;
  /** Lines as in a transcript file. */
  text(): string;
}

/** The database of one agent of OpenClaw, as it was when it was opened. */
export interface OpenclawAgentState extends AsyncDisposable {
  sessions(): readonly OpenclawSessionRow[];
  /** What happened in it, each as JSON, in order. */
  events(sessionId: string): readonly string[];
  archives(): readonly OpenclawArchive[];
  /** Credentials of model providers, as JSON. */
  logins(): readonly string[];
}

/** The database that all agents of OpenClaw share, as it was when it was opened. */
export interface OpenclawSharedState extends AsyncDisposable {
  /** Whom a channel has let in: `channel_key`, `account_id`, `entry`, `updated_at`. */
  people(): readonly ForeignRow[];
  jobs(): readonly ForeignRow[];
}

/** What OpenClaw has packed to save space. Throws a `StoreError` for anything else. */
export const unpackZstd = (bytes: Uint8Array): string => {
  try {
    return zstdDecompressSync(bytes).toString('utf8');
  } catch (error) {
    throw new StoreError('corrupt', 'what was packed cannot be unpacked', { cause: error });
  }
};

const jobColumns = ['job_id', 'name', 'enabled', 'agent_id', 'schedule_kind', 'schedule_expr', 'schedule_tz', 'every_ms', 'at', 'payload_kind', 'payload_message', 'payload_model', 'delivery_mode', 'delivery_channel', 'delivery_to', 'delivery_thread_id', 'delivery_account_id', 'job_json'];

const all = ({ db }: ForeignDatabase, query: string): readonly ForeignRow[] => db.prepare(query).all() as unknown as ForeignRow[];

/** Logical conversations and the windows of each have tables of their own; in the first version with a database they had others. */
const tablesOf = (foreign: ForeignDatabase): { readonly windows: string; readonly entries: string; readonly current: string } | undefined => {
  if (foreign.has('session_windows') && foreign.has('session_nodes')) return { windows: 'session_windows', entries: 'session_nodes', current: 'current_session_id' };
  if (foreign.has('sessions') && foreign.has('session_entries')) return { windows: 'sessions', entries: 'session_entries', current: 'session_id' };
  return undefined;
};

/** By the key of a place. */
const entriesIn = (foreign: ForeignDatabase): ReadonlyMap<string, { readonly current: string; readonly json: string }> => {
  const tables = tablesOf(foreign);
  if (tables === undefined) return new Map();
  return new Map(all(foreign, foreign.select(tables.entries, ['session_key', tables.current, 'entry_json'])).map((row) => [String(row['session_key']), { current: String(row[tables.current]), json: String(row['entry_json']) }]));
};

const sessionsIn = (foreign: ForeignDatabase): readonly OpenclawSessionRow[] => {
  const tables = tablesOf(foreign);
  if (tables === undefined) return [];
  const entries = entriesIn(foreign);
  return all(foreign, `${foreign.select(tables.windows, ['session_id', 'session_key', 'started_at', 'created_at', 'updated_at'])} order by created_at, session_id`).map((row) => ({
    sessionId: String(row['session_id']),
    sessionKey: String(row['session_key']),
    entry: entries.get(String(row['session_key']))?.json,
    isCurrent: entries.get(String(row['session_key']))?.current === String(row['session_id']),
    startedAtMs: Number(row['started_at'] ?? row['created_at']),
    updatedAtMs: Number(row['updated_at']),
  }));
};

const archivesIn = (foreign: ForeignDatabase): readonly OpenclawArchive[] => {
  if (!foreign.has('session_transcript_archives')) return [];
  const entries = entriesIn(foreign);
  const blob = foreign.db.prepare('select encoding, archive_blob from session_transcript_archives where session_id = ? and generation = ?');
  return all(foreign, "select session_id, generation, session_key from session_transcript_archives where reason = 'reset' order by created_at").map((row) => ({
    sessionId: String(row['session_id']),
    sessionKey: String(row['session_key']),
    entry: entries.get(String(row['session_key']))?.json,
    text() {
      const kept = blob.get(String(row['session_id']), String(row['generation']));
      const bytes = kept?.['archive_blob'] as Uint8Array;
      return kept?.['encoding'] === 'zstd' ? unpackZstd(bytes) : Buffer.from(bytes).toString('utf8');
    },
  }));
};

/** Opens a copy of an agent's database. Rejects with a `StoreError`. */
export const openOpenclawAgent = async (path: string): Promise<OpenclawAgentState> => {
  const foreign = await openForeignDatabase(path);
  return {
    sessions: () => sessionsIn(foreign),
    events: (sessionId) => (foreign.has('transcript_events') ? foreign.db.prepare('select event_json from transcript_events where session_id = ? order by seq').all(sessionId).map((row) => String(row['event_json'])) : []),
    archives: () => archivesIn(foreign),
    logins: () => (foreign.has('auth_profile_store') ? all(foreign, 'select store_json from auth_profile_store').map((row) => String(row['store_json'])) : []),
    [Symbol.asyncDispose]: () => foreign[Symbol.asyncDispose](),
  };
};

/** Opens a copy of the shared database. Rejects with a `StoreError`. */
export const openOpenclawShared = async (path: string): Promise<OpenclawSharedState> => {
  const foreign = await openForeignDatabase(path);
  return {
    people: () => (foreign.has('channel_pairing_allow_entries') ? all(foreign, `${foreign.select('channel_pairing_allow_entries', ['channel_key', 'account_id', 'entry', 'updated_at'])} order by channel_key, account_id, sort_order`) : []),
    jobs: () => (foreign.has('cron_jobs') ? all(foreign, `${foreign.select('cron_jobs', jobColumns)} order by job_id`) : []),
    [Symbol.asyncDispose]: () => foreign[Symbol.asyncDispose](),
  };
};
