import { newId } from '../../../core/ids.ts';
import { addUsage, noUsage } from '../../../core/transcript.ts';
import type { Usage } from '../../../core/transcript.ts';
import type { ExitReason, TurnEvent } from '../../../core/turn.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { ChildOutcome, ChildRequest, ChildRunner, ChildStatus } from './contract.ts';

export interface ChildWatch {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  onEvent?(event: TurnEvent): void;
}

const statusOf = (reason: ExitReason, said: boolean): ChildStatus => {
  switch (reason) {
    case 'completed':
    case 'silent':
    case 'limit':
      return said ? 'completed' : 'failed';
    case 'interrupted':
    case 'stopped':
    case 'suspended':
      return 'interrupted';
    case 'deadline':
      return 'timeout';
    case 'model_error':
    case 'set_aside':
    case 'cut_off':
      return 'failed';
    case 'internal_error':
      return 'error';
    default:
      throw reason satisfies never;
  }
};

const errorOf = (status: ChildStatus, sentence: string | undefined): string | undefined => {
  if (status === 'completed') return undefined;
  if (sentence !== undefined) return sentence;
  return status === 'interrupted' ? 'It was interrupted.' : 'It ended without saying anything.';
};

/** Everything that happens in one helper, taken in as it comes. */
class ChildProgress {
  readonly #startedMs: number;
  #usage: Usage = noUsage;
  #calls = 0;
  #model: string | undefined;
  #summary = '';
  #end: Extract<TurnEvent, { type: 'end' }> | undefined;

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  take(event: TurnEvent): void {
    if (event.type === 'end') this.#end = event;
    if (event.type === 'message' && event.message.role === 'assistant' && event.message.content.trim() !== '') this.#summary = event.message.content.trim();
    if (event.type !== 'usage') return;
    this.#usage = addUsage(this.#usage, event.usage);
    if (event.helper === true) return;
    this.#calls += 1;
    this.#model = event.model;
  }

  outcome(nowMs: number): ChildOutcome {
    const reason = this.#end?.reason ?? 'internal_error';
    const status = statusOf(reason, this.#summary !== '');
    const error = errorOf(status, this.#end?.error?.sentence);
    return {
      status,
      summary: this.#summary,
      ...(error !== undefined && { error }),
      exitReason: reason,
      apiCalls: this.#calls,
      usage: this.#usage,
      ...(this.#model !== undefined && { model: this.#model }),
      durationMs: nowMs - this.#startedMs,
    };
  }
}

/** Has one helper do one piece of work. Never rejects: what goes wrong is an outcome. */
export const runChild = async (run: ChildRunner, request: ChildRequest, watch: ChildWatch): Promise<ChildOutcome> => {
  const { clock, log, signal } = watch;
  const progress = new ChildProgress(clock.now());
  try {
    for await (const event of run(request, signal)) {
      progress.take(event);
      watch.onEvent?.(event);
    }
  } catch (error) {
    const errorId = newId('err', clock.now());
    log.error({ err: error, errorId, child: request.id }, 'delegation.child_broke');
    progress.take({ type: 'end', reason: 'internal_error', error: { code: 'internal', sentence: `Something went wrong inside the gateway (${errorId}).` } });
  }
  return progress.outcome(clock.now());
};
