import { sql } from 'kysely';
import type { DeleteResult, RawBuilder } from 'kysely';
import { databaseNow, inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';
import type { RetentionLimits } from './retention-limits.ts';

/** Small enough that nobody waits noticeably for a batch to end. */
const batchSize = 500;
const dayMs = 86_400_000;

interface Batch {
  readonly deleted: number;
  readonly more: boolean;
}

/** Deletes one batch of one kind. */
type Step = (tx: Writing, limits: RetentionLimits) => Promise<Batch>;

const daysAgo = (db: Reading, days: number): RawBuilder<number> => inMs(db, -days * dayMs);

const batchOf = (result: DeleteResult): Batch => ({ deleted: Number(result.numDeletedRows), more: Number(result.numDeletedRows) >= batchSize });

const pruneInbox: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('inbox').select('id').where('state', 'in', ['done', 'skipped', 'cut_off']).where('done_at', '<', daysAgo(tx, limits.inboxDays)).limit(batchSize);
  const result = await tx.q.deleteFrom('inbox').where('id', 'in', old).executeTakeFirst();
  return batchOf(result);
};

/** What was never answered stays as long as the turn that tells why. */
const pruneSetAside: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('inbox').select('id').where('state', '=', 'set_aside').where('done_at', '<', daysAgo(tx, limits.turnDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('inbox').where('id', 'in', old).executeTakeFirst());
};

const pruneOutbox: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('outbox').select('id').where('state', 'in', ['sent', 'cancelled', 'failed']).where('updated_at', '<', daysAgo(tx, limits.outboxDays)).limit(batchSize);
  const result = await tx.q.deleteFrom('outbox').where('id', 'in', old).executeTakeFirst();
  return batchOf(result);
};

const pruneTurns: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('turns').select('id').where('state', 'in', ['done', 'set_aside']).where('ended_at', '<', daysAgo(tx, limits.turnDays)).limit(batchSize);
  const result = await tx.q.deleteFrom('turns').where('id', 'in', old).executeTakeFirst();
  return batchOf(result);
};

const pruneQuestions: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('questions').select('id').where('state', '!=', 'open').where('created_at', '<', daysAgo(tx, limits.inboxDays)).limit(batchSize);
  const result = await tx.q.deleteFrom('questions').where('id', 'in', old).executeTakeFirst();
  return batchOf(result);
};

const pruneMemoryWork: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('memory_work').select('id').where('created_at', '<', daysAgo(tx, limits.memoryDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('memory_work').where('id', 'in', old).executeTakeFirst());
};

const pruneProposals: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('memory_proposals').select('id').where('created_at', '<', daysAgo(tx, limits.memoryDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('memory_proposals').where('id', 'in', old).executeTakeFirst());
};

const pruneSessionEnds: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('session_ends').select('session_id').where('ended_at', '<', daysAgo(tx, limits.memoryDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('session_ends').where('session_id', 'in', old).executeTakeFirst());
};

const pruneMediaNotes: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('media_notes').select('key').where('used_at', '<', daysAgo(tx, limits.mediaNoteDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('media_notes').where('key', 'in', old).executeTakeFirst());
};

const pruneSpeechWork: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('speech_work').select('turn_id').where('created_at', '<', daysAgo(tx, limits.speechDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('speech_work').where('turn_id', 'in', old).executeTakeFirst());
};

const pruneTitleWork: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('title_work').select('session_id').where('created_at', '<', daysAgo(tx, limits.titleDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('title_work').where('session_id', 'in', old).executeTakeFirst());
};

const pruneSpend: Step = async (tx, limits) => batchOf(await tx.q.deleteFrom('agent_spend').where('updated_at', '<', daysAgo(tx, limits.turnDays)).executeTakeFirst());

/** Their conversations stay. */
const pruneApiCalls: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('api_calls').select('id').where('ended_at', '<', daysAgo(tx, limits.apiCallDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('api_calls').where('id', 'in', old).executeTakeFirst());
};

/** One run after the other, before the calls that they belong to. */
const pruneRunEvents: Step = async (tx, limits) => {
  const run = await tx.q
    .selectFrom('api_calls')
    .select('id')
    .where('ended_at', '<', daysAgo(tx, limits.apiCallDays))
    .where((eb) => eb.exists(eb.selectFrom('api_run_events').select('api_run_events.seq').whereRef('api_run_events.run_id', '=', 'api_calls.id')))
    .limit(1)
    .executeTakeFirst();
  if (run === undefined) return { deleted: 0, more: false };
  const { deleted } = batchOf(await tx.q.deleteFrom('api_run_events').where('run_id', '=', run.id).executeTakeFirst());
  return { deleted, more: true };
};

/** They answer for a day, whether or not another comes. */
const pruneReplays: Step = async (tx) => {
  const old = tx.q.selectFrom('api_replays').select(['key_id', 'name']).where('created_at', '<', daysAgo(tx, 1)).limit(batchSize).as('old');
  const result = await tx.q
    .deleteFrom('api_replays')
    .where((eb) => eb.exists(eb.selectFrom(old).select('old.name').whereRef('old.key_id', '=', 'api_replays.key_id').whereRef('old.name', '=', 'api_replays.name')))
    .executeTakeFirst();
  return batchOf(result);
};

/** The prompt of a conversation in which nobody has spoken for so long is made anew if somebody does. */
const prunePrompts: Step = async (tx, limits) => {
  const old = tx.q
    .selectFrom('prompts')
    .innerJoin('sessions', 'sessions.id', 'prompts.session_id')
    .select('prompts.session_id')
    .where('sessions.active_at', '<', daysAgo(tx, limits.turnDays))
    .limit(batchSize);
  return batchOf(await tx.q.deleteFrom('prompts').where('session_id', 'in', old).executeTakeFirst());
};

const pruneApiSpend: Step = async (tx, limits) => {
  const day = new Date((await databaseNow(tx)) - limits.turnDays * dayMs).toISOString().slice(0, 10);
  return batchOf(await tx.q.deleteFrom('api_spend').where('day', '<', day).executeTakeFirst());
};

/** An agent that is asked again after so long is told the conversation anew. */
const pruneAcpSessions: Step = async (tx, limits) => {
  const old = tx.q.selectFrom('acp_sessions').select('session_id').where('updated_at', '<', daysAgo(tx, limits.turnDays)).limit(batchSize);
  return batchOf(await tx.q.deleteFrom('acp_sessions').where('session_id', 'in', old).executeTakeFirst());
};

/** The first account in order of name with an entry to delete gets the batch. */
const pruneJournal: Step = async (tx, limits) => {
  const next = (after: string) => tx.q.selectFrom('journal').select((eb) => eb.fn.min('account').as('account')).where('account', '>', after).executeTakeFirst();
  for (let row = await next(''); row?.account != null; row = await next(row.account)) {
    const { deleted } = await pruneAccountJournal(tx, row.account, limits);
    if (deleted > 0) return { deleted, more: true };
  }
  return { deleted: 0, more: false };
};

const pruneAccountJournal = async (tx: Writing, account: string, limits: RetentionLimits): Promise<Batch> => {
  const entries = tx.q.selectFrom('journal').where('account', '=', account);
  const excess = await entries.select('seq').orderBy('seq', 'desc').offset(limits.journalMaxEntries).limit(1).executeTakeFirst();
  // Numbers grow with time, so what is too old is among the first.
  const oldest = entries.select(['seq', 'created_at']).orderBy('seq').limit(batchSize).as('oldest');
  const result = await tx.q
    .deleteFrom('journal')
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom(oldest)
        .select('oldest.seq')
        .where((or) => or.or([or('oldest.created_at', '<', daysAgo(tx, limits.journalDays)), or('oldest.seq', '<=', excess?.seq ?? 0)])),
    )
    .executeTakeFirst();
  return batchOf(result);
};

/** Rows have no number of their own, so a batch ends at a moment; those of the same moment go with it. */
const pruneDenials: Step = async (tx, limits) => {
  const excess = await tx.q.selectFrom('denials').select('last_at').orderBy('last_at', 'desc').offset(limits.maxDenials).limit(1).executeTakeFirst();
  const bound = await tx.q
    .selectFrom('denials')
    .select('last_at')
    .where((eb) => eb.or([eb('last_at', '<', daysAgo(tx, limits.denialDays)), eb('last_at', '<=', excess?.last_at ?? 0)]))
    .orderBy('last_at')
    .limit(batchSize)
    .execute();
  const last = bound.at(-1)?.last_at;
  if (last === undefined) return { deleted: 0, more: false };
  const result = await tx.q.deleteFrom('denials').where('last_at', '<=', last).executeTakeFirst();
  return batchOf(result);
};

const pruneGates: Step = async (tx) => {
  const past = tx.q.selectFrom('gates').select('scope').where('until_ms', '<=', tx.now).limit(batchSize);
  const result = await tx.q.deleteFrom('gates').where('scope', 'in', past).where('until_ms', '<=', tx.now).executeTakeFirst();
  return batchOf(result);
};

const pruneLimits: Step = async (tx) => {
  const past = tx.q.selectFrom('limits').select('scope').where('until_ms', '<=', tx.now).limit(batchSize);
  const result = await tx.q.deleteFrom('limits').where('scope', 'in', past).where('until_ms', '<=', tx.now).executeTakeFirst();
  return batchOf(result);
};

/**
 * A lane comes back with its next work. Forgetting its fence is safe: a new row starts at the clock, above every number that the
 * old one can have given out (see `enqueueLane`). Owner ids alone would not be enough, because they differ between processes but not
 * between two claims of one process, and a tool that hung through both would have met its old number again.
 */
const pruneLanes: Step = async (tx) => {
  const idle = await tx.q
    .selectFrom('lanes')
    .select('lane')
    .where('has_work', '=', 0)
    .where('owner', 'is', null)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('inbox').select('inbox.id').whereRef('inbox.lane', '=', 'lanes.lane').where('inbox.state', 'in', ['waiting', 'running']))))
    .where((eb) => eb.not(eb.exists(eb.selectFrom('outbox').select('outbox.id').whereRef('outbox.lane', '=', 'lanes.lane').where('outbox.state', 'in', ['pending', 'sending', 'unknown']))))
    .limit(batchSize)
    .execute();
  if (idle.length === 0) return { deleted: 0, more: false };
  // Asked again: a lane that got work meanwhile stays. By its name: all idle ones would be read otherwise, with every batch.
  const result = await tx.q
    .deleteFrom('lanes')
    .where('lane', 'in', idle.map(({ lane }) => lane))
    .where(sql<number>`+has_work`, '=', 0)
    .where('owner', 'is', null)
    .executeTakeFirst();
  return batchOf(result);
};

const pruneNodes: Step = async (tx, limits) => {
  const result = await tx.q
    .deleteFrom('nodes')
    .where('seen_at', '<', daysAgo(tx, limits.nodeDays))
    .where((eb) => eb.not(eb.exists(eb.selectFrom('lanes').select('lanes.lane').whereRef('lanes.owner', '=', 'nodes.id'))))
    .executeTakeFirst();
  return batchOf(result);
};

/** By table, in the order in which they are pruned. Nothing that is still open is among what they delete. */
export const pruneSteps: Readonly<Record<string, Step>> = {
  inbox: pruneInbox,
  set_aside: pruneSetAside,
  outbox: pruneOutbox,
  turns: pruneTurns,
  questions: pruneQuestions,
  journal: pruneJournal,
  denials: pruneDenials,
  memory_work: pruneMemoryWork,
  memory_proposals: pruneProposals,
  session_ends: pruneSessionEnds,
  acp_sessions: pruneAcpSessions,
  media_notes: pruneMediaNotes,
  speech_work: pruneSpeechWork,
  title_work: pruneTitleWork,
  agent_spend: pruneSpend,
  api_run_events: pruneRunEvents,
  api_calls: pruneApiCalls,
  api_replays: pruneReplays,
  api_spend: pruneApiSpend,
  prompts: prunePrompts,
  gates: pruneGates,
  limits: pruneLimits,
  lanes: pruneLanes,
  nodes: pruneNodes,
};
