import type { Generated } from 'kysely';

/** Rows as both engines hold them: times in milliseconds, flags as 0 and 1, structures as JSON text. */
export interface Tables {
  meta: { key: string; value: string };
  api_keys: ApiKeyRow;
  api_calls: ApiCallRow;
  api_spend: { key_id: string; day: string; usd: number };
  api_replays: { key_id: string; name: string; fingerprint: string; answer: string; created_at: number };
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
  acp_sessions: { session_id: string; maker: string; acp_id: string; seen: string; turn_id: string; updated_at: number };
  grants: { session_id: string; pattern: string; granted_by: string; granted_at: number };
  processes: ProcessRow;
  homes: { account: string; target: string; name: string | null; set_by: string; set_at: number };
  account_wishes: { account: string; paused: number; restarts: number; changed_by: string; changed_at: number };
  command_work: { inbox_id: number; command: string; owner: string; started_at: number };
  restart_marks: { inbox_id: number; target: string; asked_at: number };
  prompts: { session_id: string; fingerprint: string; text: string; updated_at: number };
  questions: QuestionRow;
  handoffs: HandoffRow;
  cron_jobs: CronJobRow;
  cron_runs: CronRunRow;
  /** A conversation that waits in a place for whoever speaks there next. */
  place_claims: { account: string; chat_id: string; thread_id: string; session_id: string; lasting: number; created_at: number };
  channels: ChannelRow;
  delegations: DelegationRow;
  compressions: CompressionRow;
  compression_failures: { session_id: string; failures: number; retry_at: number; error: string };
  memory_work: MemoryWorkRow;
  memory_proposals: MemoryProposalRow;
  session_ends: { session_id: string; agent: string; reason: string; ended_at: number };
  /** What a file that people sent says or shows, in words. */
  media_notes: { key: string; text: string; model: string; created_at: number; used_at: number };
  speech_work: SpeechWorkRow;
  /** What an agent has spent on models in a day of this machine's zone, and how many calls nobody knows the price of. */
  agent_spend: { agent: string; day: string; usd: number; unpriced: number; updated_at: number };
  denials: { account: string; user_id: string; chat_id: string; kind: string; reason: string; count: number; first_at: number; last_at: number };
}

export type CronJobState = 'scheduled' | 'paused' | 'completed' | 'removed';

export interface CronJobRow {
  id: string;
  agent: string;
  name: string;
  /** What is asked, with what, and where the answer goes, as JSON. */
  definition: string;
  schedule: string;
  /** IANA name; the schedule's times of day are meant there. */
  zone: string;
  missed: string;
  overlap: string;
  state: CronJobState;
  /** Null when it is not due again by itself. */
  next_at: number | null;
  /** After so many runs it is completed; null for no end. */
  times: number | null;
  fired: Generated<number>;
  /** Since it last worked. */
  failures: Generated<number>;
  /** Where and by whom it was made, as JSON. */
  origin: string | null;
  paused_reason: string | null;
  created_at: number;
  updated_at: number;
}

export type CronRunCause = 'schedule' | 'catch_up' | 'manual';
/** `waiting`: for an earlier run of the job. `ready`: for whoever takes it up. The others after `running` are how it ended. */
export type CronRunState = 'waiting' | 'ready' | 'running' | 'ok' | 'silent' | 'failed' | 'timed_out' | 'stopped' | 'interrupted' | 'skipped' | 'missed';

export interface CronRunRow {
  id: Generated<number>;
  job_id: string;
  agent: string;
  /** One run for each: the time that it stands for, or what asked for it. */
  slot: string;
  due_at: number;
  cause: CronRunCause;
  state: CronRunState;
  /** Where its result goes, decided when it began, as JSON. */
  plan: string | null;
  session_id: string | null;
  /** When its script was started: what has no result after that was cut off. */
  script_at: number | null;
  /** How it went, as JSON, while that is still to be told to people. */
  result: string | null;
  note: string | null;
  output: string | null;
  error: string | null;
  /** The deliveries it caused, as JSON. */
  deliveries: string | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

export interface HandoffRow {
  session_id: string;
  state: 'pending' | 'running' | 'completed' | 'failed';
  destination: string;
  /** The place that asked, as JSON; it is told what became of it. */
  origin: string | null;
  error: string | null;
  owner: string | null;
  lease_until: number;
  requested_at: number;
  settled_at: number | null;
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

/** `current` is the one whose summary the model reads; it stands for what all the superseded ones stood for. */
export type CompressionState = 'current' | 'superseded' | 'undone';

export interface CompressionRow {
  id: Generated<number>;
  session_id: string;
  state: CompressionState;
  summary: string;
  /** The beginning of the conversation, up to here, is kept word for word. */
  head_through: number;
  /** The summary stands behind what is kept up to here. */
  through_id: number;
  /** How many messages it archived. */
  messages: number;
  tokens_before: number;
  tokens_after: number;
  cause: string;
  how: string;
  model: string | null;
  created_at: number;
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

/** Something that a memory provider has still to be told. */
export interface MemoryWorkRow {
  id: Generated<number>;
  /** Derived from the cause: the same thing cannot be queued twice. */
  key: string;
  agent: string;
  session_id: string;
  kind: string;
  payload: string;
  attempts: Generated<number>;
  ready_at: number;
  owner: string | null;
  lease_until: Generated<number>;
  error: string | null;
  created_at: number;
}

/** An answer that is still to be spoken. */
export interface SpeechWorkRow {
  turn_id: number;
  session_id: string;
  agent: string;
  account: string;
  target: string;
  text: string;
  attempts: Generated<number>;
  ready_at: number;
  owner: string | null;
  lease_until: Generated<number>;
  error: string | null;
  /** It is not tried any more. */
  failed_at: number | null;
  created_at: number;
}

/** A memory that waits for a person's yes. */
export interface MemoryProposalRow {
  id: Generated<number>;
  agent: string;
  session_id: string;
  account: string;
  user_id: string | null;
  target: string;
  change: string;
  created_at: number;
}

export type ProcessState = 'starting' | 'running' | 'ended' | 'lost';

export interface ProcessRow {
  id: string;
  /** The machine and home whose gateway has started it. */
  owner: string;
  session_id: string;
  command: string;
  cwd: string;
  pid: number | null;
  /** When the process began, in the words of the machine: a pid alone may be somebody else's by now. */
  started: string | null;
  state: ProcessState;
  /** Null while it runs, and when nobody was there to see it. */
  exit_code: number | null;
  /** 1 when its end starts a turn. */
  notify: number;
  /** Patterns in its output that start a turn, and how often they have, as JSON. */
  watch: string | null;
  /** 1 once the model knows of its end. */
  seen: Generated<number>;
  started_at: number;
  ended_at: number | null;
}

/** A chat that can be found by its name. */
export interface ChannelRow {
  account: string;
  chat_id: string;
  /** Empty for the chat itself. */
  thread_id: string;
  name: string | null;
  chat_type: string;
  scope_id: string | null;
  /** Of the workspace or guild, as people call it. */
  scope_name: string | null;
  /** 1 while the platform itself names it. */
  listed: number;
  /** When somebody last spoke there. */
  spoken_at: number | null;
}

/** `apart`: it is a conversation of its own, whose lane knows how far it is. */
export type DelegationState = 'running' | 'done' | 'lost' | 'apart';

/** Work that a conversation has handed away and that outlives the turn which did. */
export interface DelegationRow {
  id: string;
  /** The conversation that waits for it. */
  session_id: string;
  /** The node that does it. */
  owner: string | null;
  state: DelegationState;
  request: string;
  result: string | null;
  /** 1 once somebody wants its end. */
  stop: Generated<number>;
  created_at: number;
  ended_at: number | null;
}

/** A credential of the API, as it is kept: never the credential itself. */
export interface ApiKeyRow {
  id: string;
  name: string;
  hash: string;
  /** Its first characters, for people. */
  hint: string;
  /** JSON. */
  scopes: string;
  limits: string;
  created_at: number;
  rotated_at: number | null;
  used_at: number | null;
}

/** A call of the API that is answered by a turn of a conversation. */
export interface ApiCallRow {
  /** Also the native id of its message in the inbox. */
  id: string;
  key_id: string;
  kind: string;
  session_id: string;
  /** JSON, as is the result. */
  request: string;
  result: string | null;
  /** 1 when nobody is to find it later. */
  hidden: number;
  created_at: number;
  ended_at: number | null;
}
