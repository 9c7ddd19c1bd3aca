import { getCompileCacheDir } from 'node:module';
import { basename, dirname } from 'node:path';
import type { Logger } from '../../lib/logger.ts';
import { slept, systemClock } from '../../lib/clock.ts';
import { pruneFolder } from '../../lib/prune-folder.ts';

/** As the launcher calls it; any other place is not ours alone. */
const ourName = 'hermes-gateway';
const afterStartMs = 600_000;
const limits = { maxAgeMs: 90 * 86_400_000, maxBytes: 50_000_000 };

/** Compiled code of earlier versions is never used again, and Node removes none of it. A while after the start, once. */
export const pruneCompileCache = async (log: Logger, signal: AbortSignal): Promise<void> => {
  const folder = dirname(getCompileCacheDir() ?? '');
  if (basename(folder) !== ourName || !(await slept(systemClock, afterStartMs, signal))) return;
  try {
    const { removed } = await pruneFolder(folder, limits, { nowMs: systemClock.now(), signal });
    if (removed > 0) log.info({ files: removed }, 'compile_cache.pruned');
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error, folder }, 'compile_cache.not_pruned');
  }
};
