import { sql } from 'kysely';
import type { Reading, Writing } from '../store.ts';
import { isHeld, readyLanes } from './lanes.ts';
import type { ReadyLane } from './lanes.ts';

/** `turn:<session id>`. */
const sessionOf = sql<string>`substr(lanes.lane, 6)`;

/** Until the end of the transaction nobody else takes up a turn of an agent that has to be counted. */
export const lockAgent = async (tx: Writing, agent: string): Promise<void> => {
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${`agent:${agent}`}))`.execute(tx.q);
};

/** How many turns each agent has under way, in all processes. */
export const turnsAtWork = async (db: Reading): Promise<ReadonlyMap<string, number>> => {
  const rows = await db.q
    .selectFrom('lanes')
    .innerJoin('sessions', (join) => join.on('sessions.id', '=', sessionOf))
    .select((eb) => ['sessions.agent', eb.fn.countAll<number>().as('count')])
    .where('lanes.has_work', '=', 1)
    .where('lanes.kind', '=', 'turn')
    .where(isHeld(db))
    .groupBy('sessions.agent')
    .execute();
  return new Map(rows.map((row) => [row.agent, Number(row.count)]));
};

const readyTurns = (db: Reading, limit: number) =>
  db.q
    .selectFrom('lanes')
    .innerJoin('sessions', (join) => join.on('sessions.id', '=', sessionOf))
    .select(['lanes.lane', 'lanes.kind'])
    .where('lanes.has_work', '=', 1)
    .where('lanes.kind', '=', 'turn')
    .where('lanes.ready_at', '<=', db.now)
    .where(sql<boolean>`not ${isHeld(db)}`)
    .orderBy('lanes.ready_at')
    .limit(limit);

/** Conversations that could go on now, longest waiting first, without those of some agents. */
export const readyTurnsBut = (db: Reading, agents: readonly string[], limit: number): Promise<readonly ReadyLane[]> =>
  agents.length === 0 ? readyLanes(db, 'turn', limit) : readyTurns(db, limit).where('sessions.agent', 'not in', [...agents]).execute();

/** Tells every process that the conversation of an agent that has waited longest may go on. */
export const wakeNextOf = async (tx: Writing, agent: string): Promise<void> => {
  const next = await readyTurns(tx, 1).where('sessions.agent', '=', agent).executeTakeFirst();
  if (next !== undefined) tx.notify('lane', next.lane);
};

/** A conversation that nobody has taken up waits this long, unless something new is said in it. */
export const deferLane = async (tx: Writing, lane: string, ms: number): Promise<void> => {
  await tx.q.updateTable('lanes').set({ ready_at: sql<number>`${tx.now} + ${Math.ceil(ms)}` }).where('lane', '=', lane).where('owner', 'is', null).execute();
};

/** Conversations that were to wait longer than this are looked at again. */
const longWaitMs = 60_000;

/** What keeps agents back may have changed. */
export const expediteDeferred = async (tx: Writing): Promise<void> => {
  const lanes = await tx.q
    .updateTable('lanes')
    .set({ ready_at: tx.now })
    .where('has_work', '=', 1)
    .where('kind', '=', 'turn')
    .where('ready_at', '>', sql<number>`${tx.now} + ${longWaitMs}`)
    .returning('lane')
    .execute();
  for (const { lane } of lanes) tx.notify('lane', lane);
};
