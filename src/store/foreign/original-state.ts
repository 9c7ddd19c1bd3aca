import { StoreError } from '../../core/errors.ts';
import { openForeignDatabase } from './foreign-database.ts';
import type { ForeignDatabase, ForeignRow } from './foreign-database.ts';

/** A row of the original's database. Columns came one after the other over the years. */
export type OriginalRow = ForeignRow;

/** The state database of the original, as it was when it was opened. */
export interface OriginalState extends AsyncDisposable {
  /** Oldest first. */
  sessions(): readonly OriginalRow[];
  /** In the order in which they were written. */
  messages(sessionId: string): Iterable<OriginalRow>;
  /** Which conversation a place goes on with, where the database says so itself. */
  routing(): readonly OriginalRow[];
}

const sessionColumns = ['id', 'source', 'user_id', 'agent_id', 'session_key', 'chat_id', 'chat_type', 'thread_id', 'origin_json', 'model', 'model_config', 'parent_session_id', 'started_at', 'ended_at', 'end_reason', 'title', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens', 'estimated_cost_usd', 'actual_cost_usd'];
const messageColumns = ['id', 'role', 'content', 'tool_call_id', 'tool_calls', 'tool_name', 'timestamp', 'finish_reason', 'reasoning', 'reasoning_content', 'active', 'compacted', 'display_kind'];

const stateIn = (foreign: ForeignDatabase): OriginalState => {
  if (!foreign.has('sessions') || !foreign.has('messages')) throw new StoreError('failed', 'state.db is not a database of the original: it has no sessions and messages.');
  const { db, select } = foreign;
  const ofSession = db.prepare(`${select('messages', messageColumns)} where session_id = ? order by id`);
  return {
    sessions: () => db.prepare(`${select('sessions', sessionColumns)} order by started_at, id`).all() as unknown as OriginalRow[],
    messages: (sessionId) => ofSession.iterate(sessionId) as unknown as Iterable<OriginalRow>,
    routing: () => (foreign.has('gateway_routing') ? (db.prepare(select('gateway_routing', ['session_key', 'entry_json'])).all() as unknown as OriginalRow[]) : []),
    [Symbol.asyncDispose]: () => foreign[Symbol.asyncDispose](),
  };
};

/** Opens a copy of the original's database. Rejects with a `StoreError`. */
export const openOriginalState = async (path: string): Promise<OriginalState> => {
  const foreign = await openForeignDatabase(path);
  try {
    return stateIn(foreign);
  } catch (error) {
    await foreign[Symbol.asyncDispose]();
    throw error;
  }
};
