import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../core/errors.ts';
import { damageOf } from './inspect.ts';
import { sqliteError } from './sqlite-dialect.ts';

/** A row of the original's database. What a version of it does not have is null. */
export type OriginalRow = Readonly<Record<string, string | number | null>>;

/** The state database of the original, as it was when it was opened. */
export interface OriginalState extends AsyncDisposable {
  /** Oldest first. */
  sessions(): readonly OriginalRow[];
  /** In the order in which they were written. */
  messages(sessionId: string): Iterable<OriginalRow>;
  /** Which conversation a place goes on with, where the database says so itself. */
  routing(): readonly OriginalRow[];
}

const sessionColumns = ['id', 'source', 'user_id', 'agent_id', 'session_key', 'chat_id', 'chat_type', 'thread_id', 'origin_json', 'model', 'parent_session_id', 'started_at', 'ended_at', 'end_reason', 'title', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens', 'estimated_cost_usd', 'actual_cost_usd'];
const messageColumns = ['id', 'role', 'content', 'tool_call_id', 'tool_calls', 'tool_name', 'timestamp', 'finish_reason', 'reasoning', 'reasoning_content', 'active', 'compacted', 'display_kind'];

/** Columns came one after the other over the years. */
const selectFrom = (db: DatabaseSync, table: string, wanted: readonly string[]): string => {
  const there = new Set(db.prepare(`select name from pragma_table_info('${table}')`).all().map((row) => String(row['name'])));
  return `select ${wanted.map((name) => (there.has(name) ? `"${name}"` : `null as "${name}"`)).join(', ')} from "${table}"`;
};

const hasTable = (db: DatabaseSync, name: string): boolean => db.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !== undefined;

const openCopy = (path: string): DatabaseSync => {
  const db = new DatabaseSync(path);
  try {
    const damage = damageOf(db);
    if (damage !== undefined) throw new StoreError('corrupt', `state.db cannot be read (${damage}). If the original is running, stop it and try again.`);
    if (!hasTable(db, 'sessions') || !hasTable(db, 'messages')) throw new StoreError('failed', 'state.db is not a database of the original: it has no sessions and messages.');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/** Opens a copy: even looking at a database of another program may change files beside it. Rejects with a `StoreError`. */
export const openOriginalState = async (path: string): Promise<OriginalState> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-import-'));
  try {
    const copy = join(folder, 'state.db');
    await copyFile(path, copy);
    if (existsSync(`${path}-wal`)) await copyFile(`${path}-wal`, `${copy}-wal`);
    const db = openCopy(copy);
    const ofSession = db.prepare(`${selectFrom(db, 'messages', messageColumns)} where session_id = ? order by id`);
    return {
      sessions: () => db.prepare(`${selectFrom(db, 'sessions', sessionColumns)} order by started_at, id`).all() as unknown as OriginalRow[],
      messages: (sessionId) => ofSession.iterate(sessionId) as unknown as Iterable<OriginalRow>,
      routing: () => (hasTable(db, 'gateway_routing') ? (db.prepare(selectFrom(db, 'gateway_routing', ['session_key', 'entry_json'])).all() as unknown as OriginalRow[]) : []),
      async [Symbol.asyncDispose]() {
        db.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error instanceof StoreError || (error as NodeJS.ErrnoException).syscall !== undefined ? error : sqliteError(error);
  }
};
