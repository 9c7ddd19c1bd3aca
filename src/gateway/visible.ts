import type { Connections } from '../delivery/connections.ts';
import type { DeliveryGate } from '../delivery/gate.ts';
import { LivePreview } from '../delivery/preview.ts';
import { showTyping } from '../delivery/typing.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import { outLane } from '../store/lanes.ts';
import { hasOpenDeliveries } from '../store/outbox.ts';
import type { Store } from '../store/store.ts';
import { recordPreview } from '../store/turns.ts';
import type { GatewaySettings } from './settings.ts';

export interface VisibleDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly gate: DeliveryGate;
  readonly connections: Connections;
  settings(): GatewaySettings;
  common(account: string): AccountOptions | undefined;
}

const typingDelayMs = 400;
const nothing: Disposable = { [Symbol.dispose]: () => undefined };

/** The two things that are shown beside the outbox while a turn runs: that we are typing, and the answer as it grows. */
export const visibleProgress = (deps: VisibleDeps) => ({
  typing: (begun: BegunTurn): Disposable => {
    const { target } = begun.turn;
    if (deps.common(target.account)?.typing_indicator === false) return nothing;
    return showTyping({ target, connections: deps.connections, gate: deps.gate, clock: deps.clock, log: deps.log, delayMs: typingDelayMs });
  },
  preview: (begun: BegunTurn, part: number): LivePreview | undefined => {
    const { turn } = begun;
    const wanted = deps.common(turn.target.account)?.streaming ?? deps.settings().display.streaming;
    const limits = deps.connections.platform(turn.target.account)?.limits;
    if (!wanted || limits === undefined) return undefined;
    return new LivePreview({
      key: `preview:${turn.id}:${turn.attempts}:${part}`,
      target: turn.target,
      connections: deps.connections,
      gate: deps.gate,
      clock: deps.clock,
      log: deps.log,
      delayMs: limits.editIntervalMs,
      ...(part === 0 && turn.preview !== null && { existing: turn.preview.messageId }),
      mustWait: () => deps.store.read((db) => hasOpenDeliveries(db, outLane(turn.target.account, turn.target.chatId))),
      onShown: (messageId) => deps.store.write((tx) => recordPreview(tx, turn.id, { account: turn.target.account, messageId })),
    });
  },
});
