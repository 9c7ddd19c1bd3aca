import { sql } from 'kysely';
import type { Question } from '../../core/question.ts';
import type { RunEventRow } from '../schema/api-rows.ts';
import type { Reading, Writing } from '../store.ts';

/** What happens in a run, as it is kept for its readers. */
export type RunEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  /** The agent has said a whole message: its texts stand before this. */
  | { readonly type: 'said' }
  | { readonly type: 'tool_started'; readonly callId: string; readonly name: string; readonly preview: string }
  | { readonly type: 'tool_finished'; readonly callId: string; readonly name: string; readonly ok: boolean; readonly durationMs: number; readonly interrupted?: true }
  | { readonly type: 'asked'; readonly questionId: number; readonly callId: string | null; readonly question: Question }
  | { readonly type: 'answered'; readonly questionId: number; readonly choice: string }
  /** What was said to the run while it went on: taken into account, or come too late. */
  | { readonly type: 'steered'; readonly text: string; readonly missed?: true }
  /** A process has ended and another goes on. What was said behind `keptThrough` is said again. */
  | { readonly type: 'resumed'; readonly keptThrough: number }
  /** The result of the call tells how. */
  | { readonly type: 'end' };

export interface StoredRunEvent {
  readonly seq: number;
  readonly atMs: number;
  readonly event: RunEvent;
}

/** Words that may have to be said again. */
const sayings: readonly RunEvent['type'][] = ['text', 'reasoning', 'said'];

/** Whoever has this many words to read finds the whole text at the end. */
const mostSayings = 20_000;

/** Until the end of the transaction nobody else adds to the run. */
const lockRun = async (tx: Writing, runId: string): Promise<void> => {
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${`run:${runId}`}))`.execute(tx.q);
};

const lastSeq = async (db: Reading, runId: string): Promise<number> => (await db.q.selectFrom('api_run_events').select('seq').where('run_id', '=', runId).orderBy('seq', 'desc').limit(1).executeTakeFirst())?.seq ?? 0;

const insertBehind = async (tx: Writing, runId: string, at: { readonly seq: number; readonly events: readonly RunEvent[] }): Promise<void> => {
  const kept = at.seq < mostSayings ? at.events : at.events.filter(({ type }) => type !== 'text' && type !== 'reasoning');
  if (kept.length > 0) await tx.q.insertInto('api_run_events').values(kept.map((event, index) => ({ run_id: runId, seq: at.seq + 1 + index, kind: event.type, event: JSON.stringify(event), created_at: tx.now }))).execute();
  tx.notify('run', runId);
};

/** Adds events in order behind those that are there, and wakes the readers. */
export const appendRunEvents = async (tx: Writing, runId: string, events: readonly RunEvent[]): Promise<void> => {
  await lockRun(tx, runId);
  await insertBehind(tx, runId, { seq: await lastSeq(tx, runId), events });
};

const toEvent = (row: Pick<RunEventRow, 'seq' | 'event' | 'created_at'>): StoredRunEvent => ({ seq: row.seq, atMs: row.created_at, event: JSON.parse(row.event) as RunEvent });

/** What has happened in a run since an event, oldest first. */
export const runEventsAfter = async (db: Reading, of: { readonly runId: string; readonly seq: number; readonly limit: number }): Promise<readonly StoredRunEvent[]> => {
  const rows = await db.q.selectFrom('api_run_events').select(['seq', 'event', 'created_at']).where('run_id', '=', of.runId).where('seq', '>', of.seq).orderBy('seq').limit(of.limit).execute();
  return rows.map(toEvent);
};

/** The newest event that readers are shown. */
export const newestRunEvent = async (db: Reading, runId: string): Promise<StoredRunEvent | undefined> => {
  const row = await db.q.selectFrom('api_run_events').select(['seq', 'event', 'created_at']).where('run_id', '=', runId).where('kind', '!=', 'said').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : toEvent(row);
};

/** Tools that have begun and of whose end nothing was written. */
const openTools = async (db: Reading, runId: string): Promise<readonly Extract<RunEvent, { type: 'tool_started' }>[]> => {
  const rows = await db.q.selectFrom('api_run_events').select(['event']).where('run_id', '=', runId).where('kind', 'in', ['tool_started', 'tool_finished']).orderBy('seq').execute();
  const open = new Map<string, Extract<RunEvent, { type: 'tool_started' }>>();
  for (const { event } of rows) {
    const read = JSON.parse(event) as RunEvent;
    if (read.type === 'tool_started') open.set(read.callId, read);
    if (read.type === 'tool_finished') open.delete(read.callId);
  }
  return [...open.values()];
};

/** Each message is told as one text, a blank line between them. */
const retold = (said: readonly string[], told: number): readonly RunEvent[] =>
  said.slice(told).flatMap((text, index): RunEvent[] => {
    const isFirst = said.slice(0, told + index).every((before) => before === '');
    return [...(text === '' ? [] : [{ type: 'text', delta: isFirst ? text : `\n\n${text}` } as const]), { type: 'said' }];
  });

/**
 * Makes the events of a run that another process has left agree with what of it is kept: texts of messages that are not are taken out, for they will be said again; those of messages
 * that are and were not told are told. The numbers of what is taken out are not given again.
 */
export const resumeRunEvents = async (tx: Writing, runId: string, said: readonly string[]): Promise<void> => {
  await lockRun(tx, runId);
  const seq = await lastSeq(tx, runId);
  const marks = await tx.q.selectFrom('api_run_events').select('seq').where('run_id', '=', runId).where('kind', '=', 'said').orderBy('seq').execute();
  const told = Math.min(marks.length, said.length);
  const keptThrough = told === 0 ? 0 : (marks[told - 1]?.seq ?? 0);
  await tx.q.deleteFrom('api_run_events').where('run_id', '=', runId).where('seq', '>', keptThrough).where('kind', 'in', [...sayings]).execute();
  const cutOff = (await openTools(tx, runId)).map(({ callId, name }): RunEvent => ({ type: 'tool_finished', callId, name, ok: false, durationMs: 0, interrupted: true }));
  await insertBehind(tx, runId, { seq, events: [{ type: 'resumed', keptThrough }, ...retold(said, told), ...cutOff] });
};
