import type { Clock } from '../../../lib/clock.ts';
import { newDeadline } from '../../deadline.ts';

/** A signal that is aborted when an outer one is, or when a time has passed without a sign of life. */
export interface TimeLimit extends Disposable {
  readonly signal: AbortSignal;
  /** The time has passed. */
  passed(): boolean;
  /** A sign of life: the time begins anew. */
  restart(): void;
  /** Time stands still until `restart`. */
  pause(): void;
}

const late = new Error('the time is over');

export const timeLimit = (clock: Clock, ms: number, outer: AbortSignal): TimeLimit => {
  const controller = new AbortController();
  const deadline = newDeadline(clock, () => controller.abort(late));
  const onAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  const restart = (): void => deadline.set(clock.now() + ms);
  restart();
  return {
    signal: controller.signal,
    passed: () => controller.signal.reason === late,
    restart,
    pause: () => deadline.set(Number.POSITIVE_INFINITY),
    [Symbol.dispose]() {
      deadline.clear();
      outer.removeEventListener('abort', onAbort);
    },
  };
};
