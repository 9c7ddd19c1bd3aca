import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { defaultSpillRetention, pruneSpilledResults } from '../agent/tools/spill-result.ts';
import { enqueueSettled } from '../delivery/question-message.ts';
import { closeQuestion, overdueQuestions } from '../store/questions.ts';
import { touchNode } from '../store/nodes.ts';
import { defaultRetention, prune } from '../store/retention.ts';
import { indexNewMessages } from '../store/search.ts';
import type { Store } from '../store/store.ts';
import type { ControlLane } from './control.ts';
import { pruneMedia } from './prune-media.ts';
import type { GatewaySettings } from './settings.ts';

export interface MaintainOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly owner: string;
  readonly control: ControlLane;
  readonly signal: AbortSignal;
  readonly home: string;
  readonly mediaFolder: string;
  settings(): GatewaySettings;
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

/** What keeps a long-running gateway healthy: a sign of life, forgotten commands, the search index, and retention. Off the path of messages. */
export const maintain = async (options: MaintainOptions): Promise<void> => {
  const { store, clock, log, owner, control, signal } = options;
  let prunedMs = clock.now();
  while (await slept(clock, beatMs, signal)) {
    try {
      await store.write((tx) => touchNode(tx, owner));
      await control.recover();
      await closeOverdueQuestions(store);
      await indexNewMessages(store);
      if (clock.now() - prunedMs < pruneEveryMs) continue;
      prunedMs = clock.now();
      const { inbox_days, outbox_days, media_days } = options.settings().store;
      const pruned = await prune(store, { ...defaultRetention, inboxDays: inbox_days, outboxDays: outbox_days }, { clock, signal });
      const files = await pruneMedia(options.mediaFolder, media_days, { nowMs: clock.now(), signal });
      await pruneSpilledResults(options.home, defaultSpillRetention, { nowMs: clock.now(), signal });
      log.info({ deleted: pruned.deleted, complete: pruned.complete, files }, 'maintenance.pruned');
    } catch (error) {
      log.error({ err: error }, 'maintenance.failed');
    }
  }
};
