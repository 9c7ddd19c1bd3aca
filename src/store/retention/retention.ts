import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../store.ts';
import { pruneSteps } from './prune-steps.ts';
import type { RetentionLimits } from './retention-limits.ts';

export interface PruneOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What is left after this is left for the next time. */
  readonly budgetMs?: number;
}

export interface Pruned {
  readonly deleted: Readonly<Record<string, number>>;
  /** False when the budget was used up or the signal came first. */
  readonly complete: boolean;
}

const defaultBudgetMs = 5_000;

/** Deletes what is past its time, in small transactions. Nothing that is still open is touched. */
export const prune = async (store: Store, limits: RetentionLimits, options: PruneOptions): Promise<Pruned> => {
  const untilMs = options.clock.now() + (options.budgetMs ?? defaultBudgetMs);
  const deleted: Record<string, number> = {};
  for (const [name, step] of Object.entries(pruneSteps)) {
    deleted[name] = 0;
    for (let more = true; more; ) {
      if (options.signal.aborted || options.clock.now() > untilMs) return { deleted, complete: false };
      const batch = await store.write((tx) => step(tx, limits));
      deleted[name] += batch.deleted;
      more = batch.more;
    }
  }
  return { deleted, complete: true };
};
