import type { Generated } from 'kysely';

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
  /** The move, as JSON, once the conversation stands in its new place: whoever takes the handoff over goes on from there. */
  moved: string | null;
  owner: string | null;
  lease_until: number;
  requested_at: number;
  settled_at: number | null;
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
