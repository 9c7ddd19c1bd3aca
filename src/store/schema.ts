import type { Generated } from 'kysely';

/** Rows as both engines hold them: times in milliseconds, flags as 0 and 1, structures as JSON text. */
export interface Tables {
  meta: { key: string; value: string };
  nodes: { id: string; kind: string; pid: number; host: string; started_at: number; seen_at: number };
  sessions: SessionRow;
  bindings: { session_key: string; session_id: string; account: string; target: string; updated_at: number };
  messages: MessageRow;
  message_search: { rowid: number; tokens: string };
  inbox: InboxRow;
  lanes: LaneRow;
  turns: TurnRow;
  outbox: OutboxRow;
  gates: { scope: string; until_ms: number; reason: string };
  dead_targets: { account: string; chat_id: string; reason: string; since: number };
  accounts: AccountRow;
  cursors: { account: string; identity: string; name: string; value: string; updated_at: number };
  account_values: { account: string; key: string; value: string };
  journal: { seq: Generated<number>; account: string; stream: string; key: string; entry: string; created_at: number };
  pairing_requests: { id: string; account: string; kind: string; user_id: string; user_name: string | null; salt: string; hash: string; created_at: number };
  pairings: { account: string; user_id: string; user_name: string | null; approved_by: string; approved_at: number };
  limits: { scope: string; count: number; until_ms: number };
  questions: QuestionRow;
  denials: { account: string; user_id: string; chat_id: string; kind: string; reason: string; count: number; first_at: number; last_at: number };
}

export interface QuestionRow {
  id: Generated<number>;
  key: string;
  account: string;
  chat_id: string;
  session_id: string;
  turn_id: number | null;
  target: string;
  /** The person whose message led to it. */
  asker: string | null;
  question: string;
  purpose: string;
  state: 'open' | 'answered' | 'used' | 'expired' | 'withdrawn';
  answer: string | null;
  answered_by: string | null;
  answered_name: string | null;
  answer_inbox_id: number | null;
  created_at: number;
  expires_at: number;
}

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
}

export interface MessageRow {
  id: Generated<number>;
  session_id: string;
  turn_id: number | null;
  role: string;
  content: string;
  /** Everything of the transcript message beside role and content, as JSON. */
  body: string | null;
  /** UTF-8 bytes that the model will see. */
  size: number;
  /** 0 once undone or archived; such rows are kept but not sent to the model. */
  active: Generated<number>;
  created_at: number;
}

export type InboxState = 'waiting' | 'running' | 'done' | 'skipped' | 'set_aside';
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

export type LaneKind = 'turn' | 'out';

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
  updated_at: number;
  owner: string | null;
  lease_until: number;
}
