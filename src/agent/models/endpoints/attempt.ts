import { ModelError } from '../../../core/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { newDeadline } from '../../deadline.ts';
import type { Deadline } from '../../deadline.ts';
import { SseTooLarge } from '../wires/sse.ts';
import { networkError } from './refusal.ts';

/** One attempt: its signal ends with the caller's or when the server is silent for too long. */
export interface Attempt {
  readonly signal: AbortSignal;
  readonly deadline: Deadline;
  /** What a failure means, whoever caused it. */
  explain(error: unknown, answering: boolean): ModelError;
  /** Gives the connection up, with whatever it would still have brought. */
  drop(): void;
  close(): void;
}

const dropped = new Error('the rest of the answer is of no use');

export const beginAttempt = (clock: Clock, caller: AbortSignal, firstMs: number): Attempt => {
  const controller = new AbortController();
  let late = false;
  const deadline = newDeadline(clock, () => {
    late = true;
    controller.abort(new Error('the model was silent for too long'));
  });
  const onAbort = (): void => controller.abort(caller.reason);
  caller.addEventListener('abort', onAbort, { once: true });
  deadline.set(clock.now() + firstMs);
  return {
    signal: controller.signal,
    deadline,
    explain(error, answering) {
      if (caller.aborted) return new ModelError('aborted', 'the call was aborted');
      if (error instanceof ModelError) return error;
      if (late) return new ModelError('timeout', 'the model was silent for too long');
      if (error instanceof SseTooLarge) return new ModelError('malformed', error.message, { cause: error });
      return networkError(error, answering);
    },
    drop: () => controller.abort(dropped),
    close() {
      caller.removeEventListener('abort', onAbort);
      deadline.clear();
    },
  };
};
