import type { Clock } from '../lib/clock.ts';
import type { TurnAbort, TurnLimits } from './contract.ts';
import { newDeadline } from './deadline.ts';

export type Ending = TurnAbort['kind'] | 'idle' | 'overdue';

/** Somebody or something ended the turn before its answer was complete. */
export class TurnEnded extends Error {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(`the turn ended: ${ending}`);
    this.name = 'TurnEnded';
    this.ending = ending;
  }
}

/** Ends what a turn waits for when its signal is aborted or one of its deadlines passes. */
export interface TurnWatch {
  /** For providers and tools. */
  readonly signal: AbortSignal;
  /** Settles as `work` does; rejects with `TurnEnded` as soon as the turn is over, although `work` goes on and is forgotten. */
  guard<T>(work: Promise<T>): Promise<T>;
  /** Throws `TurnEnded` when the turn is over. */
  check(): void;
  /** A sign of life; `forMs` promises that none will come for that long. */
  alive(forMs?: number): void;
  /** Call once, at the end: stops the timers and everything that still listens to the signal. */
  close(): void;
}

const over = new Error('the turn is over');

const kinds: ReadonlySet<unknown> = new Set<TurnAbort['kind']>(['interrupted', 'stopped', 'suspended']);

const isTurnAbort = (reason: unknown): reason is TurnAbort => typeof reason === 'object' && reason !== null && 'kind' in reason && kinds.has(reason.kind);

export const watchTurn = (options: { readonly clock: Clock; readonly limits: TurnLimits; readonly signal: AbortSignal }): TurnWatch => {
  const { clock, limits, signal } = options;
  const controller = new AbortController();
  const waiting = new Set<(ended: TurnEnded) => void>();
  let ended: TurnEnded | undefined;

  const end = (ending: Ending): void => {
    if (ended !== undefined) return;
    ended = new TurnEnded(ending);
    controller.abort(ended);
    for (const reject of waiting) reject(ended);
    waiting.clear();
  };
  const onAbort = (): void => end(isTurnAbort(signal.reason) ? signal.reason.kind : 'interrupted');
  const overdueAtMs = clock.now() + limits.totalMs;
  let idleAtMs = Infinity;
  const deadline = newDeadline(clock, () => end(idleAtMs <= overdueAtMs ? 'idle' : 'overdue'));

  const alive = (forMs = 0): void => {
    idleAtMs = clock.now() + forMs + limits.activityMs;
    deadline.set(Math.min(idleAtMs, overdueAtMs));
  };

  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  alive();

  return {
    signal: controller.signal,
    alive,
    guard: (work) =>
      new Promise((resolve, reject) => {
        if (ended === undefined) waiting.add(reject);
        else reject(ended);
        work.then(
          (value) => {
            waiting.delete(reject);
            resolve(value);
          },
          (error: unknown) => {
            waiting.delete(reject);
            reject(error);
          },
        );
      }),
    check() {
      if (ended !== undefined) throw ended;
    },
    close() {
      signal.removeEventListener('abort', onAbort);
      deadline.clear();
      controller.abort(over);
    },
  };
};
