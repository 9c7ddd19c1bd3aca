import { PlatformError } from '../core/errors.ts';
import type { Target } from '../core/message.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Connections } from './connections.ts';
import type { DeliveryGate } from './gate.ts';

export interface TypingOptions {
  readonly target: Target;
  readonly connections: Connections;
  readonly gate: DeliveryGate;
  readonly clock: Clock;
  readonly log: Logger;
  /** Answers that come sooner need no sign. */
  readonly delayMs: number;
}

const callTimeoutMs = 5_000;
/** Made once: this ends every turn. */
const answered = new Error('the answer is there');

/** Shows that we are at work until disposed of. Fails quietly: it is a courtesy. */
export const showTyping = (options: TypingOptions): Disposable => {
  const stop = new AbortController();
  void keepShowing(options, stop.signal);
  return { [Symbol.dispose]: () => stop.abort(answered) };
};

const keepShowing = async (options: TypingOptions, signal: AbortSignal): Promise<void> => {
  const { clock, connections, gate, log, target } = options;
  let waitMs = options.delayMs;
  while (await slept(clock, waitMs, signal)) {
    const typing = connections.adapter(target.account)?.typing;
    if (typing === undefined) return;
    waitMs = Math.max(typing.everyMs, gate.waitMs(target));
    if (gate.waitMs(target) > 0) continue;
    try {
      await typing.show(target, AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)]));
    } catch (error) {
      log.debug({ err: error, account: target.account }, 'typing.not_shown');
      if (error instanceof PlatformError && error.code === 'rate_limited') waitMs = await gate.close(target, error);
    }
  }
};
