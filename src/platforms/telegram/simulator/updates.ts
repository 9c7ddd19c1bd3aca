import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from './refusal.ts';

export type Update = Readonly<Record<string, unknown>> & { readonly update_id: number };

interface PollRequest {
  readonly offset: number;
  readonly limit: number;
  readonly timeoutMs: number;
  readonly gone: AbortSignal;
}

/** `interrupted`: nothing happened, look again whether a fault was planned. */
type PollAnswer = readonly Update[] | 'interrupted';

/** Telegram's queue of one bot: everything stays until a later offset, or a webhook's 200, confirms it. */
export interface UpdateQueue {
  push(content: Readonly<Record<string, unknown>>): Update;
  poll(request: PollRequest): Promise<PollAnswer>;
  /** Wakes a held poll so that a fault takes effect at once. */
  interrupt(): void;
  again(updateId: number): void;
  confirm(updateId: number): void;
  pending(): readonly Update[];
  acknowledged(): number;
  /** Told about each new update, in order. */
  onPush(listener: ((update: Update) => void) | undefined): void;
}

const takenOver = (): Refusal => new Refusal(409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running');

/** How many delivered updates can be delivered again. */
export const historyLimit = 10_000;

export const newUpdateQueue = (clock: Clock, firstId = 100_000_001): UpdateQueue => {
  const waiting = new Map<number, Update>();
  const history = new Map<number, Update>();
  const repeats: { readonly update: Update; served: boolean }[] = [];
  let nextId = firstId;
  let acknowledged = 0;
  let listener: ((update: Update) => void) | undefined;
  let held: { answer(outcome: 'interrupted' | 'ready'): void; refuse(error: Refusal): void } | undefined;
  let wakeScheduled = false;

  const confirm = (id: number): void => {
    if (waiting.delete(id)) acknowledged += 1;
  };

  /** One turn of the event loop later, so that what is said together arrives together. */
  const wake = (): void => {
    if (wakeScheduled || held === undefined) return;
    wakeScheduled = true;
    setImmediate(() => {
      wakeScheduled = false;
      held?.answer('ready');
    });
  };

  const ready = (limit: number): readonly Update[] => {
    const fresh = repeats.filter((repeat) => !repeat.served);
    for (const repeat of fresh) repeat.served = true;
    const answer = fresh.map((repeat) => repeat.update);
    for (const update of waiting.values()) {
      if (answer.length >= limit) break;
      answer.push(update);
    }
    return answer;
  };

  const hold = (timeoutMs: number, gone: AbortSignal): Promise<'interrupted' | 'ready'> =>
    new Promise((resolve, reject) => {
      const over = new AbortController();
      const finish = (act: () => void): void => {
        if (held !== mine) return;
        held = undefined;
        over.abort();
        gone.removeEventListener('abort', leave);
        act();
      };
      const mine = { answer: (outcome: 'interrupted' | 'ready') => finish(() => resolve(outcome)), refuse: (error: Refusal) => finish(() => reject(error)) };
      const leave = (): void => mine.answer('ready');
      held = mine;
      gone.addEventListener('abort', leave, { once: true });
      clock.sleep(timeoutMs, over.signal).then(leave, () => undefined);
    });

  return {
    push(content) {
      const update: Update = { update_id: nextId, ...content };
      nextId += 1;
      waiting.set(update.update_id, update);
      history.set(update.update_id, update);
      if (history.size > historyLimit) history.delete(history.keys().next().value ?? 0);
      listener?.(update);
      wake();
      return update;
    },
    async poll({ offset, limit, timeoutMs, gone }) {
      held?.refuse(takenOver());
      const from = offset < 0 ? ([...waiting.keys()].at(offset) ?? 0) : offset;
      for (const id of waiting.keys()) {
        if (id >= from) break;
        confirm(id);
      }
      repeats.splice(0, repeats.length, ...repeats.filter((repeat) => !repeat.served));
      const at = ready(limit);
      if (at.length > 0 || timeoutMs === 0) return at;
      if ((await hold(timeoutMs, gone)) === 'interrupted') return 'interrupted';
      return gone.aborted ? [] : ready(limit);
    },
    interrupt: () => held?.answer('interrupted'),
    again(updateId) {
      const update = history.get(updateId);
      if (update === undefined) throw new Error(`no update ${updateId} to deliver again`);
      listener?.(update);
      if (listener !== undefined) return;
      repeats.push({ update, served: false });
      wake();
    },
    confirm,
    pending: () => [...waiting.values()],
    acknowledged: () => acknowledged,
    onPush: (next) => (listener = next),
  };
};
