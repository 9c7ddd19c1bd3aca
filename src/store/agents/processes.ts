import type { Selectable } from 'kysely';
import type { ProcessRow, ProcessState } from '../schema/agent-rows.ts';
import type { Reading, Writing } from '../store.ts';

/** A program that runs in the background of a conversation. */
export interface StoredProcess {
  readonly id: string;
  readonly sessionId: string;
  readonly command: string;
  readonly cwd: string;
  readonly pid: number | null;
  readonly started: string | null;
  readonly state: ProcessState;
  readonly exitCode: number | null;
  /** Its end is still to be told. */
  readonly notify: boolean;
  /** Whatever is known about the watch of its output, as JSON. */
  readonly watch: string | null;
  readonly seen: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
}

const toProcess = (row: Selectable<ProcessRow>): StoredProcess => ({
  id: row.id,
  sessionId: row.session_id,
  command: row.command,
  cwd: row.cwd,
  pid: row.pid,
  started: row.started,
  state: row.state,
  exitCode: row.exit_code,
  notify: row.notify === 1,
  watch: row.watch,
  seen: row.seen === 1,
  startedAtMs: row.started_at,
  endedAtMs: row.ended_at,
});

export interface NewProcess extends Pick<StoredProcess, 'id' | 'sessionId' | 'command' | 'cwd' | 'notify' | 'watch'> {
  readonly owner: string;
}

/** Kept before it is started, so that it is never forgotten. */
export const keepProcess = async (tx: Writing, fresh: NewProcess): Promise<void> => {
  const { id, owner, command, cwd, watch } = fresh;
  await tx.q
    .insertInto('processes')
    .values({ id, owner, session_id: fresh.sessionId, command, cwd, pid: null, started: null, state: 'starting', exit_code: null, notify: fresh.notify ? 1 : 0, watch, started_at: tx.now, ended_at: null })
    .execute();
};

export const processRuns = async (tx: Writing, id: string, facts: { readonly pid: number; readonly started: string | null }): Promise<void> => {
  await tx.q.updateTable('processes').set({ state: 'running', ...facts }).where('id', '=', id).where('state', '=', 'starting').execute();
};

/** False when its end was known before. */
export const processEnded = async (tx: Writing, id: string, end: { readonly state: 'ended' | 'lost'; readonly exitCode: number | null }): Promise<boolean> => {
  const result = await tx.q.updateTable('processes').set({ state: end.state, exit_code: end.exitCode, ended_at: tx.now }).where('id', '=', id).where('state', 'in', ['starting', 'running']).executeTakeFirst();
  return result.numUpdatedRows === 1n;
};

export const changeProcess = async (tx: Writing, id: string, change: { readonly notify?: boolean; readonly seen?: true; readonly watch?: string | null }): Promise<void> => {
  await tx.q
    .updateTable('processes')
    .set({ ...(change.notify !== undefined && { notify: change.notify ? 1 : 0 }), ...(change.seen !== undefined && { seen: 1 }), ...(change.watch !== undefined && { watch: change.watch }) })
    .where('id', '=', id)
    .execute();
};

export const processesOf = async (db: Reading, owner: string): Promise<StoredProcess[]> => (await db.q.selectFrom('processes').selectAll().where('owner', '=', owner).orderBy('started_at').orderBy('id').execute()).map(toProcess);

/** When the youngest program began that still runs in the background of a conversation; undefined when there is none. */
export const newestProcessMs = async (db: Reading, sessionId: string): Promise<number | undefined> => {
  const row = await db.q
    .selectFrom('processes')
    .select((eb) => eb.fn.max('started_at').as('newest'))
    .where('session_id', '=', sessionId)
    .where('state', 'in', ['starting', 'running'])
    .executeTakeFirst();
  return row?.newest == null ? undefined : Number(row.newest);
};

export const forgetProcess = async (tx: Writing, id: string): Promise<void> => {
  await tx.q.deleteFrom('processes').where('id', '=', id).execute();
};
