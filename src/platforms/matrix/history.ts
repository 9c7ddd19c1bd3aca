import type { MatrixApi } from './api.ts';
import type { Logger } from '../../lib/logger.ts';
import type { RoomEvent } from './wire.ts';

const pageSize = 100;
/** A room in which more was said while we were away is too far ahead to be read up. */
const mostPages = 100;
/** Clocks of homeservers differ, and some events come late. */
const slackMs = 3600_000;

export interface Gap {
  readonly roomId: string;
  /** Where what the sync showed begins. */
  readonly before: string;
  /** Where the last sync ended, and when; left out, everything that can be seen was missed. */
  readonly after?: { readonly since: string; readonly sinceMs: number };
}

/** What was said between two syncs and did not fit into the second, oldest first. */
export const readGap = async (api: Pick<MatrixApi, 'messages'>, gap: Gap, log: Logger, signal: AbortSignal): Promise<readonly RoomEvent[]> => {
  const found: RoomEvent[] = [];
  let from = gap.before;
  for (let page = 0; page < mostPages; page += 1) {
    const { events, end } = await api.messages(gap.roomId, { dir: 'b', from, limit: String(pageSize), ...(gap.after !== undefined && { to: gap.after.since }) }, signal);
    found.push(...events);
    // Some homeservers do not stop at `to`; what is older was read before.
    const oldestMs = (gap.after?.sinceMs ?? 0) - slackMs;
    const isPast = events.length > 0 && events.every(({ atMs }) => atMs < oldestMs);
    if (events.length === 0 || end === undefined || end === gap.after?.since || isPast) return found.toReversed();
    from = end;
  }
  log.error({ roomId: gap.roomId, events: found.length }, 'matrix.gap.too_large');
  return found.toReversed();
};
