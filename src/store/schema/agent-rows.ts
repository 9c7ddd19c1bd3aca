import type { Generated } from 'kysely';

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

/** A conversation that is still to get a title. */
export interface TitleWorkRow {
  session_id: string;
  agent: string;
  attempts: Generated<number>;
  ready_at: number;
  owner: string | null;
  lease_until: Generated<number>;
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
