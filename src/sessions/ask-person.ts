import type { AskPerson } from '../agent/contract.ts';
import type { Answer, Question } from '../core/question.ts';
import { enqueueQuestion, enqueueSettled } from '../delivery/question-message.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { closeQuestion, findQuestionByKey, keepQuestion, useAnswer } from '../store/agents/questions.ts';
import type { StoredQuestion } from '../store/agents/questions.ts';
import { holdLane } from '../store/lanes/lanes.ts';
import { persist } from '../store/persist.ts';
import type { Store, Writing } from '../store/store.ts';
import type { BegunTurn } from './begin.ts';
import { turnLeaseMs } from './commit.ts';

/** How questions reach whoever answers them, where that is not by a message in a chat. */
export interface OwnQuestions {
  /** What was told before has arrived. */
  ready(): Promise<void>;
  /** As part of the transaction that keeps the question. */
  show(tx: Writing, question: StoredQuestion): Promise<void>;
}

export interface AskDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  platform(account: string): Platform | undefined;
  readonly own?: OwnQuestions | undefined;
}

/** A notification may be missed; nobody waits longer than this because of it. */
const lookEveryMs = 5_000;

/** Waits for a question to change. What changes between two waits is not missed. */
const changesOf = (store: Store, key: string): { next(ms: number, clock: Clock, signal: AbortSignal): Promise<void> } & Disposable => {
  let changed = new AbortController();
  const listening = store.listen('question', (name) => {
    if (name === key) changed.abort();
  });
  return {
    async next(ms, clock, signal) {
      await slept(clock, ms, AbortSignal.any([signal, changed.signal]));
      changed = new AbortController();
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
};

const ask = async (deps: AskDeps, begun: BegunTurn, asked: { key: string; callId: string; question: Question }): Promise<void> => {
  const { turn, session, last, claim } = begun;
  const asker = last === undefined || last.event.kind === 'notice' ? (session.userId ?? undefined) : last.event.sender.id;
  const platform = deps.platform(turn.target.account);
  if (platform === undefined && deps.own === undefined) throw new Error(`the account ${turn.target.account} has no platform`);
  await deps.own?.ready();
  await deps.store.write(async (tx) => {
    await holdLane(tx, claim, turnLeaseMs);
    const kept = await keepQuestion(tx, {
      key: asked.key,
      sessionId: session.id,
      turnId: turn.id,
      target: turn.target,
      ...(asker !== undefined && { askerId: asker }),
      question: asked.question,
      purpose: { type: 'call', callId: asked.callId },
    });
    if (!kept.isNew) return;
    if (deps.own !== undefined) await deps.own.show(tx, kept.question);
    else if (platform !== undefined) await enqueueQuestion(tx, platform, kept.question);
  });
};

/** The outcome of a question that is settled, taken for good; undefined while it is open, or when an answer came in this moment. */
const settle = async (tx: Writing, found: StoredQuestion): Promise<Answer | undefined> => {
  if (found.state === 'answered' && found.answer !== undefined) {
    const { value, by, byName } = found.answer;
    return (await useAnswer(tx, found.id)) ? { type: 'answered', value, by, ...(byName !== null && { byName }) } : undefined;
  }
  if (found.state === 'open' && found.leftMs > 0) return undefined;
  if (found.state !== 'open') return { type: 'expired' };
  if (!(await closeQuestion(tx, found.id, 'expired'))) return undefined;
  await enqueueSettled(tx, found, '⌛ Nobody answered in time.');
  return { type: 'expired' };
};

/**
 * Lets the tools of a turn ask in its chat. A question that the turn asked before the process ended is found again, with the time it has
 * left; an answer is taken once. Whoever waits for a person also waits for a store that is in trouble meanwhile.
 */
export const askPerson =
  (deps: AskDeps, begun: BegunTurn): AskPerson =>
  async (question, from, signal) => {
    const key = `turn:${begun.turn.id}:${from.callId}:${from.index}`;
    using changes = changesOf(deps.store, key);
    const patiently = <T>(work: () => Promise<T>): Promise<T> => persist(work, { clock: deps.clock, log: deps.log, signal });
    await patiently(() => ask(deps, begun, { key, callId: from.callId, question }));
    for (;;) {
      signal.throwIfAborted();
      const found = await patiently(() => deps.store.read((db) => findQuestionByKey(db, key)));
      if (found === undefined) return { type: 'expired' };
      const answer = found.state === 'open' && found.leftMs > 0 ? undefined : await patiently(() => deps.store.write((tx) => settle(tx, found)));
      if (answer !== undefined) return answer;
      await changes.next(Math.min(Math.max(found.leftMs, 1), lookEveryMs), deps.clock, signal);
    }
  };
