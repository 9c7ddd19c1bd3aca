import { StoreError } from '../core/errors.ts';
import type { Engine } from './store.ts';

/**
 * One step of the schema. Every index costs every message; a partial one is used by SQLite only where it leaves out nulls or where the query has
 * its condition in words, not as a parameter.
 * Steps are never changed once released; a new version is a new step.
 */
interface Migration {
  readonly version: number;
  statements(engine: Engine): readonly string[];
}

const identity = (engine: Engine): string =>
  engine === 'sqlite' ? 'integer primary key autoincrement' : 'bigint generated always as identity primary key';

/** Text that is looked up by its start and listed in order, the same on both engines whatever the database's own collation. */
const bytewise = (engine: Engine): string => (engine === 'sqlite' ? 'text' : 'text collate "C"');

const search = (engine: Engine): readonly string[] =>
  engine === 'sqlite'
    ? ["create virtual table message_search using fts5(tokens, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0')"]
    : ['create table message_search (rowid bigint primary key, tokens tsvector not null)', 'create index message_search_tokens on message_search using gin (tokens)'];

const first: Migration = {
  version: 1,
  statements: (engine) => [
    'create table nodes (id text primary key, kind text not null, pid bigint not null, host text not null, started_at bigint not null, seen_at bigint not null)',
    `create table sessions (
      id text primary key, agent text not null, account text not null, chat_type text not null, user_id text, title text,
      created_at bigint not null, active_at bigint not null, ended_at bigint, end_reason text, parent_id text, model text, settings text not null default '{}',
      message_count bigint not null default 0, turn_count bigint not null default 0, input_tokens bigint not null default 0, output_tokens bigint not null default 0,
      cache_read_tokens bigint not null default 0, cache_write_tokens bigint not null default 0, reasoning_tokens bigint not null default 0)`,
    'create unique index sessions_title on sessions (title) where title is not null',
    'create index sessions_active on sessions (active_at)',
    'create table bindings (session_key text primary key, session_id text not null, account text not null, target text not null, updated_at bigint not null)',
    'create index bindings_session on bindings (session_id)',
    `create table messages (
      id ${identity(engine)}, session_id text not null, turn_id bigint, role text not null, content text not null, body text,
      size bigint not null, active bigint not null default 1, created_at bigint not null)`,
    'create index messages_session on messages (session_id, active, id)',
    `create table inbox (
      id ${identity(engine)}, account text not null, chat_id text not null, kind text not null, native_id text not null, class text not null,
      lane text, session_id text, session_key text, event text not null, state text not null, reason text, decisions text not null,
      turn_id bigint, message_id bigint, received_at bigint not null, done_at bigint)`,
    // The native id comes first, so that `hermes trace` can look for it alone.
    'create unique index inbox_native on inbox (native_id, account, chat_id, kind)',
    'create index inbox_lane on inbox (lane, state, class, id)',
    "create index inbox_control on inbox (state, id) where class = 'control'",
    'create index inbox_turn on inbox (turn_id, state, id) where turn_id is not null',
    'create index inbox_done on inbox (state, done_at)',
    `create table lanes (
      lane text primary key, kind text not null, has_work bigint not null, ready_at bigint not null, owner text, lease_until bigint not null,
      fence bigint not null, stops bigint not null)`,
    'create index lanes_work on lanes (has_work, kind, ready_at)',
    `create table turns (
      id ${identity(engine)}, session_id text not null, lane text not null, state text not null, attempts bigint not null, target text not null, preview text,
      exit_reason text, error text, model text, input_tokens bigint not null default 0, output_tokens bigint not null default 0, started_at bigint not null, ended_at bigint)`,
    'create index turns_lane on turns (state, lane, id)',
    'create index turns_ended on turns (state, ended_at)',
    `create table outbox (
      id ${identity(engine)}, key text not null, lane text not null, account text not null, chat_id text not null, target text not null, payload text not null,
      state text not null, attempts bigint not null default 0, repeated bigint not null default 0, not_before bigint not null default 0, turn_id bigint, inbox_id bigint,
      message_ids text, log text not null default '[]', error text, created_at bigint not null, updated_at bigint not null)`,
    'create unique index outbox_key on outbox (key)',
    'create index outbox_lane on outbox (lane, state, id)',
    'create index outbox_state on outbox (state, updated_at)',
    'create index outbox_turn on outbox (turn_id) where turn_id is not null',
    'create index outbox_inbox on outbox (inbox_id) where inbox_id is not null',
    'create table gates (scope text primary key, until_ms bigint not null, reason text not null)',
    'create table dead_targets (account text not null, chat_id text not null, reason text not null, since bigint not null, primary key (account, chat_id))',
    `create table accounts (
      account text primary key, identity text, name text, state text not null, error_code text, error text, attempts bigint not null, connected_at bigint,
      last_event_at bigint, last_alive_at bigint, last_call_at bigint, updated_at bigint not null, owner text, lease_until bigint not null)`,
    'create table cursors (account text not null, identity text not null, name text not null, value text not null, updated_at bigint not null, primary key (account, identity, name))',
    `create table account_values (account text not null, key ${bytewise(engine)} not null, value text not null, primary key (account, key))`,
    `create table journal (seq ${identity(engine)}, account text not null, stream text not null, key text not null, entry text not null, created_at bigint not null)`,
    'create unique index journal_key on journal (account, stream, key)',
    'create index journal_seq on journal (account, seq)',
    'create index journal_stream on journal (account, stream, seq)',
    `create table denials (
      account text not null, user_id text not null, chat_id text not null, kind text not null, reason text not null, count bigint not null,
      first_at bigint not null, last_at bigint not null, primary key (account, user_id, chat_id, kind, reason))`,
    'create index denials_last on denials (last_at)',
    ...search(engine),
  ],
};

/** People: who was let in, and what limits that. */
const second: Migration = {
  version: 2,
  statements: () => [
    'create table pairing_requests (id text primary key, account text not null, kind text not null, user_id text not null, user_name text, salt text not null, hash text not null, created_at bigint not null)',
    'create index pairing_requests_account on pairing_requests (account, kind, created_at)',
    'create table pairings (account text not null, user_id text not null, user_name text, approved_by text not null, approved_at bigint not null, primary key (account, user_id))',
    'create table limits (scope text primary key, count bigint not null, until_ms bigint not null)',
  ],
};

/** The agent: what it asks people. */
const third: Migration = {
  version: 3,
  statements: (engine) => [
    'create table prompts (session_id text primary key, fingerprint text not null, text text not null, updated_at bigint not null)',
    `create table questions (
      id ${identity(engine)}, key text not null, account text not null, chat_id text not null, session_id text not null, turn_id bigint, target text not null, asker text, question text not null,
      purpose text not null, state text not null, answer text, answered_by text, answered_name text, answer_inbox_id bigint, created_at bigint not null, expires_at bigint not null)`,
    'create unique index questions_key on questions (key)',
    'create index questions_chat on questions (state, account, chat_id)',
    'create index questions_turn on questions (turn_id) where turn_id is not null',
    'create index questions_answer on questions (answer_inbox_id) where answer_inbox_id is not null',
    'create table homes (account text primary key, target text not null, name text, set_by text not null, set_at bigint not null)',
    'create table account_wishes (account text primary key, paused bigint not null, restarts bigint not null, changed_by text not null, changed_at bigint not null)',
    'create table command_work (inbox_id bigint primary key, command text not null, owner text not null, started_at bigint not null)',
    'create table restart_marks (inbox_id bigint primary key, target text not null, asked_at bigint not null)',
    'alter table messages add column compression_id bigint',
    'alter table messages add column shown_chars bigint',
    'alter table sessions add column prompt_tokens bigint',
    'alter table sessions add column prompt_through bigint',
    'alter table sessions add column context_facts text',
    'alter table turns add column chore text',
    `create table compressions (
      id ${identity(engine)}, session_id text not null, state text not null, summary text not null, head_through bigint not null, through_id bigint not null, messages bigint not null,
      tokens_before bigint not null, tokens_after bigint not null, cause text not null, how text not null, model text, created_at bigint not null)`,
    'create index compressions_session on compressions (session_id, state, id)',
    'create table compression_failures (session_id text primary key, failures bigint not null, retry_at bigint not null, error text not null)',
    `create table memory_work (
      id ${identity(engine)}, key text not null, agent text not null, session_id text not null, kind text not null, payload text not null, attempts bigint not null default 0, ready_at bigint not null,
      owner text, lease_until bigint not null default 0, error text, created_at bigint not null)`,
    'create unique index memory_work_key on memory_work (key)',
    'create index memory_work_agent on memory_work (agent, id)',
    'create index memory_work_session on memory_work (session_id, id)',
    `create table memory_proposals (
      id ${identity(engine)}, agent text not null, session_id text not null, account text not null, user_id text, target text not null, change text not null, created_at bigint not null)`,
    'create index memory_proposals_agent on memory_proposals (agent, id)',
    'create table session_ends (session_id text primary key, agent text not null, reason text not null, ended_at bigint not null)',
    'create index session_ends_agent on session_ends (agent, ended_at)',
    'create table acp_sessions (session_id text primary key, maker text not null, acp_id text not null, seen text not null, turn_id text not null, updated_at bigint not null)',
    'create index acp_sessions_updated on acp_sessions (updated_at)',
    'create table grants (session_id text not null, pattern text not null, granted_by text not null, granted_at bigint not null, primary key (session_id, pattern))',
    `create table processes (
      id text primary key, owner text not null, session_id text not null, command text not null, cwd text not null, pid bigint, started text, state text not null, exit_code bigint,
      notify bigint not null, watch text, seen bigint not null default 0, started_at bigint not null, ended_at bigint)`,
    'create index processes_owner on processes (owner)',
    'create table media_notes (key text primary key, text text not null, model text not null, created_at bigint not null, used_at bigint not null)',
    'create index media_notes_used on media_notes (used_at)',
    `create table speech_work (
      turn_id bigint primary key, session_id text not null, agent text not null, account text not null, target text not null, text text not null, attempts bigint not null default 0, ready_at bigint not null,
      owner text, lease_until bigint not null default 0, error text, failed_at bigint, created_at bigint not null)`,
  ],
};

/** What of a stored target names the chat; queries that look for a chat write it exactly so, for then an index answers them. */
export const chatInTarget = (engine: Engine): string => (engine === 'sqlite' ? "json_extract(target, '$.chatId')" : "((target::jsonb) ->> 'chatId')");

/** Reach: conversations that move, chats that can be named, work that is handed to helpers. */
const fourth: Migration = {
  version: 4,
  statements: (engine) => [
    `create table handoffs (
      session_id text primary key, state text not null, destination text not null, origin text, error text, owner text, lease_until bigint not null default 0, requested_at bigint not null, settled_at bigint)`,
    'create index handoffs_state on handoffs (state)',
    'create table place_claims (account text not null, chat_id text not null, thread_id text not null, session_id text not null, lasting bigint not null, created_at bigint not null, primary key (account, chat_id, thread_id))',
    `create index bindings_chat on bindings (account, ${chatInTarget(engine)})`,
    `create table channels (
      account text not null, chat_id text not null, thread_id text not null, name text, chat_type text not null, scope_id text, scope_name text, listed bigint not null, spoken_at bigint,
      primary key (account, chat_id, thread_id))`,
    'create index channels_spoken on channels (spoken_at)',
    `create table delegations (
      id text primary key, session_id text not null, owner text, state text not null, request text not null, result text, stop bigint not null default 0, created_at bigint not null, ended_at bigint)`,
    'create index delegations_session on delegations (session_id, created_at)',
    'create index delegations_state on delegations (state, ended_at)',
    `create table cron_jobs (
      id text primary key, agent text not null, name text not null, definition text not null, schedule text not null, zone text not null, missed text not null, overlap text not null, state text not null,
      next_at bigint, times bigint, fired bigint not null default 0, failures bigint not null default 0, origin text, paused_reason text, created_at bigint not null, updated_at bigint not null)`,
    'create index cron_jobs_next on cron_jobs (next_at) where next_at is not null',
    'create index cron_jobs_agent on cron_jobs (agent, name)',
    `create table cron_runs (
      id ${identity(engine)}, job_id text not null, agent text not null, slot text not null, due_at bigint not null, cause text not null, state text not null, plan text, session_id text, script_at bigint,
      result text, note text, output text, error text, deliveries text, created_at bigint not null, started_at bigint, ended_at bigint)`,
    'create unique index cron_runs_slot on cron_runs (job_id, slot)',
    'create index cron_runs_job on cron_runs (job_id, id)',
    'create index cron_runs_state on cron_runs (state, job_id, id)',
    'create index cron_runs_session on cron_runs (session_id) where session_id is not null',
    'create index cron_runs_ended on cron_runs (ended_at) where ended_at is not null',
    ...['sessions', 'turns'].flatMap((table) => [`alter table ${table} add column cost_usd double precision`, `alter table ${table} add column cost_status text`]),
    'create table agent_spend (agent text not null, day text not null, usd double precision not null, unpriced bigint not null, updated_at bigint not null, primary key (agent, day))',
  ],
};

/** The API: who may call it, what they have used, and what is to be answered again word for word. */
const fifth: Migration = {
  version: 5,
  statements: () => [
    `create table api_keys (
      id text primary key, name text not null, hash text not null, hint text not null, scopes text not null, limits text not null, created_at bigint not null, rotated_at bigint, used_at bigint)`,
    'create unique index api_keys_name on api_keys (name)',
    'create unique index api_keys_hash on api_keys (hash)',
    'create table api_spend (key_id text not null, day text not null, usd double precision not null, primary key (key_id, day))',
    'create table api_replays (key_id text not null, name text not null, fingerprint text not null, answer text not null, created_at bigint not null, primary key (key_id, name))',
    'create index api_replays_created on api_replays (created_at)',
    `create table api_calls (
      id text primary key, key_id text not null, kind text not null, session_id text not null, request text not null, result text, hidden bigint not null, created_at bigint not null, ended_at bigint)`,
    'create index api_calls_ended on api_calls (ended_at) where ended_at is not null',
  ],
};

/** Further platforms, runs of the API, and operations. */
const sixth: Migration = {
  version: 6,
  statements: () => [
    'create table api_run_events (run_id text not null, seq bigint not null, kind text not null, event text not null, created_at bigint not null, primary key (run_id, seq))',
  ],
};

/** Turns that were cut off. */
const seventh: Migration = {
  version: 7,
  statements: () => ['alter table lanes add column cut_at bigint'],
};

/** Conversations that are to get a title, and when an account is tried again. */
const eighth: Migration = {
  version: 8,
  statements: () => [
    `create table title_work (
      session_id text primary key, agent text not null, attempts bigint not null default 0, ready_at bigint not null, owner text, lease_until bigint not null default 0, created_at bigint not null)`,
    'alter table accounts add column next_try_at bigint',
  ],
};

/** How far a handoff has come. */
const ninth: Migration = {
  version: 9,
  statements: () => ['alter table handoffs add column moved text'],
};

const migrations: readonly Migration[] = [first, second, third, fourth, fifth, sixth, seventh, eighth, ninth];

export const schemaVersion: number = migrations.at(-1)?.version ?? 0;

export const newerSchema = (database: string, version: number): StoreError =>
  new StoreError(
    'newer',
    `${database} was written by a newer version of hermes (schema ${version}, this one knows ${schemaVersion}). Install the newer version, or restore a backup made before the upgrade; hermes restore also takes the copies in the backups folder of the home.`,
  );

/** The steps from one version to another; without a `through`, to this one's. */
export const pendingMigrations = (from: number, engine: Engine, through = schemaVersion): readonly { version: number; statements: readonly string[] }[] =>
  migrations.filter((step) => step.version > from && step.version <= through).map((step) => ({ version: step.version, statements: step.statements(engine) }));
