import type { Clock } from '../../lib/clock.ts';
import { slept } from '../../lib/clock.ts';
import { apiCall } from '../../store/api/api-calls.ts';
import { runEventsAfter } from '../../store/api/api-run-events.ts';
import type { StoredRunEvent } from '../../store/api/api-run-events.ts';
import type { Store } from '../../store/store.ts';

/** A notification may be missed; nobody waits longer than this because of it. */
const lookMs = 1000;
const pageSize = 200;

/** The events of a run behind one of them, as they are kept: those that are there, then those that come, up to its end or until the signal comes. */
export async function* followRun(deps: { readonly store: Store; readonly clock: Clock }, run: { readonly id: string; readonly afterSeq: number }, signal: AbortSignal): AsyncGenerator<StoredRunEvent, void, undefined> {
  let woken = new AbortController();
  using _listening = deps.store.listen('run', (id) => {
    if (id === run.id) woken.abort();
  });
  let seq = run.afterSeq;
  while (!signal.aborted) {
    woken = new AbortController();
    const { events, isOver } = await deps.store.read(async (db) => {
      const found = await runEventsAfter(db, { runId: run.id, seq, limit: pageSize });
      return { events: found, isOver: found.length === 0 && (await apiCall(db, run.id))?.result !== undefined };
    });
    for (const each of events) {
      seq = each.seq;
      yield each;
      if (each.event.type === 'end') return;
    }
    if (isOver) return;
    if (events.length === 0) await slept(deps.clock, lookMs, AbortSignal.any([woken.signal, signal]));
  }
}
