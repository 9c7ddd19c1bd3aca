import { join } from 'node:path';
import { rescheduleJobs } from '../cron/reschedule-jobs.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { pruneFolder } from '../lib/prune-folder.ts';
import { defaultSpillRetention, pruneSpilledResults } from '../agent/tools/spill-result.ts';
import { enqueueSettled } from '../delivery/question-message.ts';
import { followClock } from '../store/engines/follow-clock.ts';
import { closeQuestion, overdueQuestions } from '../store/agents/questions.ts';
import { pruneConversations } from '../portability/remove-conversation.ts';
import { touchNode } from '../store/nodes.ts';
import { defaultRetention } from '../store/retention/retention-limits.ts';
import { prune } from '../store/retention/retention.ts';
import { scrubIfOwed } from '../store/copies/scrub.ts';
import { indexNewMessages } from '../store/sessions/search.ts';
import { databaseNow } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import type { ControlLane } from './control.ts';
import { pruneLeftovers } from './prune-leftovers.ts';
import type { GatewaySettings } from './settings.ts';

export interface MaintainOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly owner: string;
  readonly control: Pick<ControlLane, 'recover'>;
  readonly signal: AbortSignal;
  readonly home: string;
  readonly mediaFolder: string;
  settings(): Pick<GatewaySettings, 'store'>;
  /** Ends conversations whose time is over. */
  expireSessions(): Promise<unknown>;
  /** From 0 to 1; chance unless said. */
  readonly random?: () => number;
}

const mostOverdue = 50;

/** Questions of commands that nobody has answered in time. */
const closeOverdueQuestions = async (store: Store): Promise<void> => {
  const overdue = await store.read((db) => overdueQuestions(db, mostOverdue));
  if (overdue.length === 0) return;
  await store.write(async (tx) => {
    for (const question of overdue) if (await closeQuestion(tx, question.id, 'expired')) await enqueueSettled(tx, question, '⌛ Nobody answered in time.');
  });
};

const beatMs = 30_000;
const pruneEveryMs = 3_600_000;
/** Every open place is looked at. */
const expireEveryMs = 300_000;
const tidyEveryMs = 6 * pruneEveryMs;
/** Soon after a start, so that one who is restarted often tidies up as well; not at once, and not all who were started together. */
const firstPruneMs = 120_000;
const firstSpreadMs = 180_000;
const sessionsBudgetMs = 5_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const mebibyte = 1024 * 1024;

/** Timers and small corrections of the clock are less exact than this. */
const setBackMs = 5_000;

/** Copies of what was sent, of no use to anybody once they were: they go with the deliveries that name them, which alone say whose they are. */
const pruneSent = async ({ mediaFolder, settings }: MaintainOptions, at: { readonly nowMs: number; readonly signal: AbortSignal }): Promise<number> => {
  const { outbox_days, delivery_hours } = settings().store;
  const maxAgeMs = Math.max(outbox_days * dayMs, delivery_hours * hourMs) + dayMs;
  let removed = 0;
  for (const name of ['outgoing', 'spoken']) removed += (await pruneFolder(join(mediaFolder, name), { maxAgeMs, maxBytes: Number.POSITIVE_INFINITY }, at)).removed;
  return removed;
};

const pruneEverything = async (options: MaintainOptions): Promise<void> => {
  const { store, clock, log, signal } = options;
  const { inbox_days, outbox_days, session_days, media_days, media_max_total_mb } = options.settings().store;
  const pruned = await prune(store, { ...defaultRetention, inboxDays: inbox_days, outboxDays: outbox_days }, { clock, signal });
  const at = { nowMs: clock.now(), signal };
  const sessions = session_days === undefined ? 0 : await pruneConversations(store, { home: options.home, scope: { beforeMs: (await store.read(databaseNow)) - session_days * dayMs }, signal, budgetMs: sessionsBudgetMs });
  if (sessions > 0) log.info({ sessions, session_days }, 'maintenance.sessions_removed');
  // What a conversation still names is then only a name.
  const media = await pruneFolder(options.mediaFolder, { maxAgeMs: media_days * dayMs, maxBytes: media_max_total_mb * mebibyte }, at);
  const sent = await pruneSent(options, at);
  const results = await pruneSpilledResults(options.home, defaultSpillRetention, at);
  const leftovers = await pruneLeftovers(options.home, at);
  log.info({ deleted: { ...pruned.deleted, sessions }, complete: pruned.complete, files: media.removed + sent, results, leftovers }, 'maintenance.pruned');
};

const tidy = async ({ store, log }: MaintainOptions): Promise<void> => {
  const startedMs = performance.now();
  const { freedBytes } = await store.tidy();
  log.info({ freed_bytes: freedBytes, ms: Math.round(performance.now() - startedMs) }, 'maintenance.tidied');
};

/** What was erased while somebody read. */
const scrubOwed = async ({ store, log }: MaintainOptions): Promise<void> => {
  const done = await scrubIfOwed(store);
  if (done !== undefined) log.info({ done }, 'maintenance.scrubbed');
};

/** What waits for a time goes on when that was taken back; a database that others share has a clock of its own. */
const followClockBack = async ({ store, log }: MaintainOptions, backMs: number): Promise<void> => {
  log.warn({ back_ms: backMs }, 'clock.set_back');
  if (store.engine !== 'sqlite') return;
  await store.write(async (tx) => {
    await followClock(tx, backMs);
    await rescheduleJobs(tx, { backMs, slackMs: 2 * beatMs });
  });
};

/** What is done every now and then; not as often after a clock that was put on, not less often after one that was put back. */
const due = (clock: Clock, everyMs: number, firstMs: number): (() => boolean) => {
  let lastMs = clock.now() - everyMs + firstMs;
  return () => {
    if (Math.abs(clock.now() - lastMs) < everyMs) return false;
    lastMs = clock.now();
    return true;
  };
};

/** One duty, which does not keep the others from theirs. False when it has failed; the end of the gateway is no failure. */
const attempted = async ({ log, signal }: MaintainOptions, duty: string, work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) log.error({ err: error, duty }, 'maintenance.failed');
    return false;
  }
};

/** What keeps a long-running gateway healthy: a sign of life, forgotten commands, the search index, retention, and the store itself. Off the path of messages. */
export const maintain = async (options: MaintainOptions): Promise<void> => {
  const { store, clock, owner, control, signal } = options;
  const firstMs = firstPruneMs + (options.random ?? Math.random)() * firstSpreadMs;
  const pruneIsDue = due(clock, pruneEveryMs, firstMs);
  const expiryIsDue = due(clock, expireEveryMs, beatMs);
  const tidyIsDue = due(clock, tidyEveryMs, 6 * firstMs);
  let wokeMs = clock.now();
  while (await slept(clock, beatMs, signal)) {
    const backMs = wokeMs + beatMs - clock.now();
    wokeMs = clock.now();
    if (backMs > setBackMs) await attempted(options, 'clock', () => followClockBack(options, backMs));
    // A store that does not take this takes nothing else either.
    if (!(await attempted(options, 'sign of life', () => store.write((tx) => touchNode(tx, { id: owner, kind: 'gateway', pid: process.pid }))))) continue;
    await attempted(options, 'commands', () => control.recover());
    await attempted(options, 'questions', () => closeOverdueQuestions(store));
    if (expiryIsDue()) await attempted(options, 'sessions', () => options.expireSessions());
    await attempted(options, 'search', () => indexNewMessages(store));
    await attempted(options, 'scrub', () => scrubOwed(options));
    if (pruneIsDue()) await attempted(options, 'retention', () => pruneEverything(options));
    if (tidyIsDue()) await attempted(options, 'store', () => tidy(options));
  }
};
