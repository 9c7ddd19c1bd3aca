import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { isTurnOver } from '../../store/sessions/turns.ts';
import type { Store } from '../../store/store.ts';
import { takeWish } from './end-wish.ts';
import type { EndWish } from './end-wish.ts';

export interface FollowWishes {
  readonly home: string;
  readonly pid: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const lookEveryMs = 500;
/** A turn that has still not ended by then is put down, and goes on afterwards. */
const patienceMs = 600_000;

type Attempt = <T>(look: () => T | Promise<T>) => Promise<T | undefined>;

/** A gateway whose disk or database is in trouble looks again. After each line twice as many failures go by before the next. */
const newAttempt = (log: Logger): Attempt => {
  let failures = 0;
  return async (look) => {
    try {
      const seen = await look();
      failures = 0;
      return seen;
    } catch (error) {
      failures += 1;
      if (Number.isInteger(Math.log2(failures))) log.warn({ err: error, failures }, 'gateway.wish_not_read');
      return undefined;
    }
  };
};

const isOver = async (store: Store, attempt: Attempt, { turnId }: EndWish): Promise<boolean> => turnId === undefined || (await attempt(() => store.read((db) => isTurnOver(db, turnId)))) === true;

/** Resolves when a program that this gateway has started wanted its end, and the turn that ran the program has come to its own. Undefined once the signal comes. */
export const untilWished = async (following: FollowWishes): Promise<EndWish['end'] | undefined> => {
  const { home, pid, store, clock, log, signal } = following;
  const looking = newAttempt(log);
  const asking = newAttempt(log);
  let wish: EndWish | undefined;
  let untilMs = 0;
  while (await slept(clock, lookEveryMs, signal)) {
    const left = await looking(() => takeWish(home, pid));
    if (left !== undefined) {
      log.info({ end: left.end, turn: left.turnId ?? null }, 'gateway.end_wished');
      wish = left;
      untilMs = clock.now() + patienceMs;
    }
    if (wish !== undefined && (clock.now() >= untilMs || (await isOver(store, asking, wish)))) return wish.end;
  }
  return undefined;
};
