import { pruneCron } from '../store/retention/cron-retention.ts';
import type { Store } from '../store/store.ts';

/** Small enough that nobody waits noticeably for it. */
const batch = 50;

/** Deletes what is past its time, in small transactions. Answers how many runs. */
export const pruneRuns = async (store: Store, options: { readonly keepDays: number; readonly signal: AbortSignal }): Promise<number> => {
  let all = 0;
  for (let deleted = batch; deleted === batch && !options.signal.aborted; all += deleted) deleted = await store.write((tx) => pruneCron(tx, { keepDays: options.keepDays, batch }));
  return all;
};
