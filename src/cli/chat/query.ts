import type { Clock } from '../../lib/clock.ts';
import { slept } from '../../lib/clock.ts';
import { eventOutcome } from '../../store/messages/outcome.ts';
import type { EventOutcome } from '../../store/messages/outcome.ts';
import type { Printed } from './conversation.ts';
import type { Core } from './core.ts';
import { leaveUnanswered } from './leave-unanswered.ts';
import { ChatSession } from './session.ts';
import type { Window } from './situation.ts';

export interface QueryOptions {
  readonly core: Core;
  readonly window: Window;
  readonly clock: Clock;
  readonly question: string;
  /** Ends the turn, and the waiting. */
  readonly signal: AbortSignal;
  onProgress(item: Printed): void;
  /** The agent asked this, and nobody can answer. */
  onUnanswered(question: string): void;
}

export interface QueryResult {
  readonly ok: boolean;
  readonly answer: string;
  readonly session: string | null;
  /** Why the turn ended, or what became of the question without one. */
  readonly reason: string;
  readonly model: string | null;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** What went wrong, for a person. */
  readonly error: string | null;
}

const lookEveryMs = 50;
const acceptMs = 60_000;
/** How long a stopped turn may take to end. */
const stopMs = 3_000;

const succeeded = new Set<string>(['completed', 'silent', 'limit']);
const noUsage = { inputTokens: 0, outputTokens: 0 };

const failed = (reason: string, error: string): QueryResult => ({ ok: false, answer: '', session: null, reason, model: null, usage: noUsage, error });

const isOver = ({ state, open }: EventOutcome): boolean => open === 0 && state !== 'waiting' && state !== 'running';

/** `told` is what was shown as the answer. Only a turn keeps its words; those of a command may be secret and are nowhere else. */
const resultOf = ({ turn, answer, sessionId, reason, state }: EventOutcome, told: string | undefined): QueryResult => {
  if (turn === undefined) return { ok: state === 'done' && reason === 'command', answer: told ?? '', session: sessionId, reason: reason ?? state, model: null, usage: noUsage, error: state === 'done' ? null : reason };
  const why = turn.exitReason ?? state;
  return { ok: succeeded.has(why), answer, session: sessionId, reason: why, model: turn.model, usage: { inputTokens: turn.inputTokens, outputTokens: turn.outputTokens }, error: turn.error };
};

/** Asks one question and waits for its answer. The store says when it is there and how it ended, whatever happens to the connection. */
export const askOnce = async (options: QueryOptions): Promise<QueryResult> => {
  const { core, window, clock, question, signal } = options;
  const closing = new AbortController();
  let wake = new AbortController();
  const front = {
    print: options.onProgress,
    changed: (): void => wake.abort(),
  };
  const session = new ChatSession({ core, window, clock, front });
  const running = session.run();
  const id = session.say(question, { silent: true });
  const startedMs = clock.now();
  const look = async (): Promise<QueryResult> => {
    let stoppedMs: number | undefined;
    while (!closing.signal.aborted) {
      wake = new AbortController();
      if (signal.aborted && stoppedMs === undefined) {
        stoppedMs = clock.now();
        session.say('/stop', { silent: true });
      }
      const refusal = session.refusal(id);
      if (refusal !== undefined) return failed('refused', refusal);
      const outcome = await core.store.read((db) => eventOutcome(db, { account: window.account, chatId: window.chat, nativeId: id, kind: 'message' }));
      const told = session.answerTo(id);
      const isTold = told !== undefined || outcome?.turn !== undefined || outcome?.deliveries === 0;
      if (outcome !== undefined && isOver(outcome) && isTold) return resultOf(outcome, told);
      if (outcome === undefined && clock.now() - startedMs > acceptMs) return failed('unreachable', 'The gateway does not answer.');
      if (outcome?.state === 'running') for (const asked of await leaveUnanswered(core.store, window)) options.onUnanswered(asked);
      if (stoppedMs !== undefined && clock.now() - stoppedMs > stopMs) return failed('stopped', 'Stopped.');
      await slept(clock, lookEveryMs, AbortSignal.any([wake.signal, closing.signal]));
    }
    return failed('closed', 'The connection was closed.');
  };
  try {
    return await Promise.race([look(), running.then(() => failed('closed', 'The connection was closed.'))]);
  } finally {
    closing.abort();
    await session.close({ seen: true });
    await running;
  }
};
