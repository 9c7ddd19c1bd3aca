import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { prepared } from '../prepared.ts';
import type { LaneKind } from '../schema/conversation-rows.ts';
import { inMs, startsWith, steadyLimit } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** The right to work on a lane. Every write made under it carries the fence. */
export interface Claim {
  readonly lane: string;
  readonly owner: string;
  readonly fence: number;
}

export const turnLane = (sessionId: string): string => `turn:${sessionId}`;
export const outLane = (account: string, chatId: string): string => `out:${account}:${chatId}`;

/**
 * Idle lanes are pruned and come back as new rows. Starting at the clock instead of at zero keeps their numbers growing, so that
 * somebody who stalled long ago cannot meet his old number again; a lane is not claimed a thousand times in a millisecond.
 */
const firstFence = (db: Reading): RawBuilder<number> => sql<number>`${db.now} * 1000`;

/**
 * Announces work and answers how the lane is doing. Called before the item is written, it takes the lane's row lock and makes the order of items the order of commits.
 * `delayMs` holds the lane back, for parts of one message that are still to come; newer work without delay ends the hold.
 */
export const enqueueLane = async (tx: Writing, work: { lane: string; kind: LaneKind; delayMs?: number }): Promise<LaneFacts> => {
  const [row] = (await upsertWork(tx, { lane: work.lane, kind: work.kind, delayMs: Math.ceil(work.delayMs ?? 0) })).rows;
  tx.notify('lane', work.lane);
  return toFacts(row);
};

const upsertWork = prepared((db, work: { lane: string; kind: LaneKind; delayMs: number }) => {
  const readyAt = sql<number>`${db.now} + ${work.delayMs}`;
  return db.q
    .insertInto('lanes')
    .values({ lane: work.lane, kind: work.kind, has_work: 1, ready_at: readyAt, owner: null, lease_until: 0, fence: firstFence(db), stops: 0 })
    .onConflict((conflict) => conflict.column('lane').doUpdateSet({ has_work: 1, ready_at: readyAt }))
    .returning(['lanes.stops', heldAsNumber(db).as('held')]);
});

/** The lane's lock until the end of the transaction: nothing is announced, begun or ended in it meanwhile. Answers how the lane is doing, and changes nothing about that. */
export const lockLane = async (tx: Writing, at: { lane: string; kind: LaneKind }): Promise<LaneFacts> => toFacts((await upsertNothing(tx, { lane: at.lane, kind: at.kind })).rows[0]);

const upsertNothing = prepared((db, at: { lane: string; kind: LaneKind }) =>
  db.q
    .insertInto('lanes')
    .values({ lane: at.lane, kind: at.kind, has_work: 0, ready_at: db.now, owner: null, lease_until: 0, fence: firstFence(db), stops: 0 })
    .onConflict((conflict) => conflict.column('lane').doUpdateSet((eb) => ({ stops: eb.ref('lanes.stops') })))
    .returning(['lanes.stops', heldAsNumber(db).as('held')]),
);

/** Undefined when somebody else has it, when there is nothing to do, or when it is not time yet. */
export const claimLane = async (tx: Writing, request: { lane: string; owner: string; leaseMs: number }): Promise<Claim | undefined> => {
  const [row] = (await takeLane(tx, request)).rows;
  return row === undefined ? undefined : { lane: request.lane, owner: request.owner, fence: row.fence };
};

const takeLane = prepared((db, request: { lane: string; owner: string; leaseMs: number }) =>
  db.q
    .updateTable('lanes')
    .set((eb) => ({
      owner: request.owner,
      lease_until: sql<number>`${db.now} + ${request.leaseMs}`,
      fence: eb('fence', '+', 1),
      // An owner that is still named here has gone away without a word.
      cut_at: sql<number | null>`case when owner is null then cut_at else lease_until end`,
    }))
    .where('lane', '=', request.lane)
    .where('has_work', '=', 1)
    .where('ready_at', '<=', db.now)
    .where((eb) => eb.or([eb('owner', 'is', null), eb('lease_until', '<', db.now)]))
    .returning('fence'),
);

/** The claim anew for who has the lane already: a claim was written, but nobody was told. Undefined when somebody else has it, or nobody. */
export const reclaimLane = async (tx: Writing, request: { lane: string; owner: string; leaseMs: number }): Promise<Claim | undefined> => {
  const row = await tx.q
    .updateTable('lanes')
    .set((eb) => ({ lease_until: inMs(tx, request.leaseMs), fence: eb('fence', '+', 1) }))
    .where('lane', '=', request.lane)
    .where('owner', '=', request.owner)
    .returning('fence')
    .executeTakeFirst();
  return row === undefined ? undefined : { lane: request.lane, owner: request.owner, fence: row.fence };
};

/** Throws `lane_lost` unless the claim still holds; extends its lease. What was cut off is being worked on again. First statement of every write under a claim. */
export const holdLane = async (tx: Writing, claim: Claim, leaseMs: number): Promise<void> => {
  const { numAffectedRows } = await extendClaim(tx, { ...claim, leaseMs });
  if (numAffectedRows === 0n) throw new StoreError('lane_lost', `another owner has taken over ${claim.lane}`);
};

const extendClaim = prepared((db, claim: Claim & { leaseMs: number }) =>
  db.q
    .updateTable('lanes')
    .set({ lease_until: sql<number>`${db.now} + ${claim.leaseMs}`, cut_at: null })
    .where('lane', '=', claim.lane)
    .where('owner', '=', claim.owner)
    .where('fence', '=', claim.fence),
);

/** Gives the lane back. `more` says whether work is left; `readyInMs` when it may be taken up; `cut` that it was begun and is left in the middle. */
export const releaseLane = async (tx: Writing, claim: Claim, left: { more: boolean; readyInMs?: number; cut?: boolean }): Promise<void> => {
  const given = { ...claim, hasWork: left.more ? 1 : 0 };
  if (left.cut === true) await giveBackCut(tx, given);
  else if (left.readyInMs === undefined) await giveBack(tx, given);
  else await giveBackUntil(tx, { ...given, readyInMs: Math.ceil(left.readyInMs) });
  if (left.more) tx.notify('lane', claim.lane);
};

const released = (db: Reading, claim: Claim & { hasWork: number }) =>
  db.q
    .updateTable('lanes')
    .set({ owner: null, lease_until: 0, has_work: claim.hasWork })
    .where('lane', '=', claim.lane)
    .where('owner', '=', claim.owner)
    .where('fence', '=', claim.fence);

const giveBack = prepared((db, claim: Claim & { hasWork: number }) => released(db, claim).set({ cut_at: null }));
const giveBackCut = prepared((db, claim: Claim & { hasWork: number }) => released(db, claim).set({ cut_at: db.now }));
const giveBackUntil = prepared((db, claim: Claim & { hasWork: number; readyInMs: number }) => released(db, claim).set({ cut_at: null, ready_at: sql<number>`${db.now} + ${claim.readyInMs}` }));

/** A sign of life for lanes that are being worked on. */
export const extendLanes = async (tx: Writing, held: { owner: string; lanes: readonly string[]; leaseMs: number }): Promise<void> => {
  if (held.lanes.length === 0) return;
  await tx.q
    .updateTable('lanes')
    .set({ lease_until: inMs(tx, held.leaseMs) })
    .where('owner', '=', held.owner)
    .where('lane', 'in', [...held.lanes])
    .execute();
};

export interface ReadyLane {
  readonly lane: string;
  readonly kind: LaneKind;
}

/** Lanes that could be claimed now, longest waiting first. */
export const readyLanes = async (db: Reading, kind: LaneKind, limit: number): Promise<readonly ReadyLane[]> => (await selectReady(db, { kind, limit })).rows;

/** Asked every second, also by a gateway that has nothing to do. */
const selectReady = prepared((db, of: { kind: LaneKind; limit: number }) =>
  db.q
    .selectFrom('lanes')
    .select(['lane', 'kind'])
    .where('kind', '=', of.kind)
    .where('has_work', '=', 1)
    .where('ready_at', '<=', db.now)
    .where((eb) => eb.or([eb('owner', 'is', null), eb('lease_until', '<', db.now)]))
    .orderBy('ready_at')
    .limit(steadyLimit(of.limit)),
);

/** Asks whoever runs the lane, in any process, to stop. */
export const requestStop = async (tx: Writing, lane: string): Promise<void> => {
  await tx.q.updateTable('lanes').set((eb) => ({ stops: eb('stops', '+', 1) })).where('lane', '=', lane).execute();
  tx.notify('stop', lane);
};

/** A lane at work, as the store knows it. */
export interface LaneState {
  readonly owner: string | null;
  readonly fence: number;
  /** How often it was asked to stop. */
  readonly stops: number;
  /** Of the lease; less than nothing once it has run out. */
  readonly leftMs: number;
  /** The newest message that waits in it; zero when none does. */
  readonly newestWaiting: number;
}

/** How lanes are doing, for whoever works on them: a lane that is missing here or has another owner or fence is lost. */
export const laneStates = async (db: Reading, lanes: readonly string[]): Promise<ReadonlyMap<string, LaneState>> => {
  const { rows } = await selectStates(db, { lanes: db.engine === 'sqlite' ? JSON.stringify(lanes) : lanes });
  return new Map(rows.map(({ lane, owner, fence, stops, left, newest }) => [lane, { owner, fence, stops, leftMs: Number(left), newestWaiting: newest ?? 0 }]));
};

/** A list as one value, so that the query stays the same however many there are. */
const isAmong = (db: Reading, lanes: unknown): RawBuilder<boolean> => (db.engine === 'sqlite' ? sql<boolean>`lanes.lane in (select value from json_each(${lanes}))` : sql<boolean>`lanes.lane = any(${lanes}::text[])`);

const selectStates = prepared((db, of: { lanes: string | readonly string[] }) =>
  db.q
    .selectFrom('lanes')
    .select((eb) => [
      'lanes.lane',
      'lanes.owner',
      'lanes.fence',
      'lanes.stops',
      sql<number>`lanes.lease_until - ${db.now}`.as('left'),
      eb.selectFrom('inbox').select('inbox.id').whereRef('inbox.lane', '=', 'lanes.lane').where('inbox.state', '=', 'waiting').where('inbox.class', '=', sql.lit('chat')).orderBy('inbox.id', 'desc').limit(sql.lit(1)).as('newest'),
    ])
    .where(isAmong(db, of.lanes)),
);

/** Frees everything that owners of a dead process still hold; their work is taken up again at once. */
export const releaseOwner = async (tx: Writing, owner: string): Promise<number> => {
  const gone = sql<number>`case when lease_until < ${tx.now} then lease_until else ${tx.now} end`;
  const lanes = await tx.q.updateTable('lanes').set({ owner: null, lease_until: 0, cut_at: gone }).where('owner', '=', owner).returning('lane').execute();
  for (const { lane } of lanes) tx.notify('lane', lane);
  return lanes.length;
};

export interface LaneFacts {
  readonly running: boolean;
  readonly stops: number;
}

/** Somebody works on the lane. */
export const isHeld = (db: Reading): RawBuilder<boolean> => sql<boolean>`(lanes.owner is not null and lanes.lease_until >= ${db.now})`;

const heldAsNumber = (db: Reading): RawBuilder<number> => sql<number>`case when ${isHeld(db)} then 1 else 0 end`;

const toFacts = (row: { stops: number; held: number } | undefined): LaneFacts => ({ running: row?.held === 1, stops: row?.stops ?? 0 });

export const laneFacts = async (db: Reading, lane: string): Promise<LaneFacts> => toFacts((await selectFacts(db, { lane })).rows[0]);

const selectFacts = prepared((db, at: { lane: string }) => db.q.selectFrom('lanes').select(['lanes.stops', heldAsNumber(db).as('held')]).where('lane', '=', at.lane));

/** Lanes whose name starts so need not wait for their time any longer. */
export const expediteLanes = async (tx: Writing, prefix: string): Promise<void> => {
  const lanes = await tx.q
    .updateTable('lanes')
    .set({ ready_at: tx.now })
    .where('has_work', '=', 1)
    .where('ready_at', '>', tx.now)
    .where(startsWith('lane', prefix))
    .returning('lane')
    .execute();
  for (const { lane } of lanes) tx.notify('lane', lane);
};

export interface HeldLane {
  /** How long parts of a message that are still on their way keep the lane back; zero or less when nothing does. */
  readonly holdMs: number;
  readonly stops: number;
  /** How long nobody had been at work that was begun, when the lane was claimed; undefined when nothing was left in the middle. */
  readonly cutMs: number | undefined;
}

export const heldLane = async (db: Reading, lane: string): Promise<HeldLane> => {
  const [row] = (await selectHeld(db, { lane })).rows;
  return { holdMs: Number(row?.hold ?? 0), stops: row?.stops ?? 0, cutMs: row?.cut == null ? undefined : Math.max(0, Number(row.cut)) };
};

const selectHeld = prepared((db, at: { lane: string }) => db.q.selectFrom('lanes').select(['stops', sql<number>`ready_at - ${db.now}`.as('hold'), sql<number | null>`${db.now} - cut_at`.as('cut')]).where('lane', '=', at.lane));

/** How long until a lane nobody holds may be claimed; undefined when it has no work or is held. */
export const laneWaitMs = async (db: Reading, lane: string): Promise<number | undefined> => {
  const row = await db.q
    .selectFrom('lanes')
    .select(sql<number>`ready_at - ${db.now}`.as('wait'))
    .where('lane', '=', lane)
    .where('has_work', '=', 1)
    .where('owner', 'is', null)
    .executeTakeFirst();
  return row === undefined ? undefined : Math.max(0, Number(row.wait));
};
