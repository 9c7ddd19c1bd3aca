import type { Generated } from 'kysely';

export interface SessionRow {
  id: string;
  agent: string;
  account: string;
  chat_type: string;
  user_id: string | null;
  title: string | null;
  created_at: number;
  active_at: number;
  ended_at: number | null;
  end_reason: string | null;
  parent_id: string | null;
  model: string | null;
  /** Conversation-scoped settings as JSON. */
  settings: string;
  message_count: Generated<number>;
  turn_count: Generated<number>;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  cache_read_tokens: Generated<number>;
  cache_write_tokens: Generated<number>;
  reasoning_tokens: Generated<number>;
  /** What the model counted when it last read this conversation, prompt and tools included; up to which message that was. */
  prompt_tokens: Generated<number | null>;
  prompt_through: Generated<number | null>;
  /** How large the model's window is and what stands in it beside the messages, as JSON. */
  context_facts: Generated<string | null>;
  /** Null while nobody knows what anything cost. */
  cost_usd: Generated<number | null>;
  cost_status: Generated<CostStatus | null>;
}

/** `estimated` also for a sum of which a part is unknown. */
export type CostStatus = 'actual' | 'estimated';

export interface MessageRow {
  id: Generated<number>;
  session_id: string;
  turn_id: number | null;
  role: string;
  content: string;
  /** Everything of the transcript message beside role and content, as JSON. */
  body: string | null;
  /** Bytes of what the model will see, see `messageSizeBytes`. */
  size: number;
  /** 0 once undone or archived; such rows are kept but not sent to the model. */
  active: Generated<number>;
  /** The compression that archived the row: a summary speaks for it, and people still find it. Null for what was undone. */
  compression_id: Generated<number | null>;
  /** Of a tool's result, as much as the model still sees; null for all of it. */
  shown_chars: Generated<number | null>;
  created_at: number;
}

/** `cut_off`: its turn was under way when the gateway went away for too long, and nobody has gone on with it by himself. */
export type InboxState = 'waiting' | 'running' | 'done' | 'skipped' | 'set_aside' | 'cut_off';
export type InboxClass = 'chat' | 'control';

export interface InboxRow {
  id: Generated<number>;
  account: string;
  chat_id: string;
  kind: string;
  native_id: string;
  class: InboxClass;
  lane: string | null;
  session_id: string | null;
  session_key: string | null;
  event: string;
  state: InboxState;
  reason: string | null;
  /** Decision by decision, as JSON, for `hermes trace`. */
  decisions: string;
  turn_id: number | null;
  message_id: number | null;
  received_at: number;
  done_at: number | null;
}

export type LaneKind = 'turn' | 'out' | 'cron';

export interface LaneRow {
  lane: string;
  kind: LaneKind;
  has_work: number;
  /** Not to be claimed before. */
  ready_at: number;
  owner: string | null;
  lease_until: number;
  /** Grows with every claim; a write with an old number is refused. */
  fence: number;
  /** Grows with every request to stop what runs. */
  stops: number;
  /** Since when nobody has been at work that was begun; null while somebody is, and when all of it was done or nothing begun. */
  cut_at: Generated<number | null>;
}

export type TurnState = 'running' | 'done' | 'set_aside';

export interface TurnRow {
  id: Generated<number>;
  session_id: string;
  lane: string;
  state: TurnState;
  attempts: number;
  target: string;
  /** The live preview that the final text has to finish, as JSON. */
  preview: string | null;
  /** Why it ended; `stopped` while it runs says that somebody has asked for that. */
  exit_reason: string | null;
  error: string | null;
  model: string | null;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  started_at: number;
  ended_at: number | null;
  /** Work other than answering, as JSON. */
  chore: Generated<string | null>;
  cost_usd: Generated<number | null>;
  cost_status: Generated<CostStatus | null>;
}

export type OutboxState = 'pending' | 'sending' | 'unknown' | 'sent' | 'failed' | 'cancelled';

export interface OutboxRow {
  id: Generated<number>;
  /** Derived from the cause: the same effect cannot be enqueued twice. */
  key: string;
  lane: string;
  account: string;
  chat_id: string;
  target: string;
  payload: string;
  state: OutboxState;
  attempts: Generated<number>;
  /** 1 once it had to be repeated without knowing whether the first try arrived. */
  repeated: Generated<number>;
  not_before: Generated<number>;
  turn_id: number | null;
  inbox_id: number | null;
  message_ids: string | null;
  /** Attempts with their outcome, as JSON. */
  log: Generated<string>;
  error: string | null;
  created_at: number;
  updated_at: number;
}

export interface AccountRow {
  account: string;
  identity: string | null;
  name: string | null;
  state: string;
  error_code: string | null;
  error: string | null;
  attempts: number;
  connected_at: number | null;
  last_event_at: number | null;
  last_alive_at: number | null;
  last_call_at: number | null;
  next_try_at: number | null;
  updated_at: number;
  owner: string | null;
  lease_until: number;
}
