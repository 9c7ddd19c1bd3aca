import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
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
  readonly mediaFolder: string;
  settings(): GatewaySettings;
}

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
      await indexNewMessages(store);
      if (clock.now() - prunedMs < pruneEveryMs) continue;
      prunedMs = clock.now();
      const { inbox_days, outbox_days, media_days } = options.settings().store;
      const pruned = await prune(store, { ...defaultRetention, inboxDays: inbox_days, outboxDays: outbox_days }, { clock, signal });
      const files = await pruneMedia(options.mediaFolder, media_days, { nowMs: clock.now(), signal });
      log.info({ deleted: pruned.deleted, complete: pruned.complete, files }, 'maintenance.pruned');
    } catch (error) {
      log.error({ err: error }, 'maintenance.failed');
    }
  }
};
