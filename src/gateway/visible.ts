import type { Target } from '../core/message.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { Connections } from '../delivery/connections.ts';
import type { DeliveryGate } from '../delivery/gate.ts';
import { LivePreview } from '../delivery/preview.ts';
import { showTyping } from '../delivery/typing.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Activity } from '../platforms/contract.ts';
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

const activityTimeoutMs = 5_000;

const isActivity = (event: TurnEvent): event is Activity => event.type === 'tool_started' || event.type === 'tool_finished' || event.type === 'retrying' || event.type === 'end';

const showActivity = async (deps: VisibleDeps, target: Target, activity: Activity): Promise<void> => {
  try {
    if (deps.gate.waitMs(target) > 0) return;
    await deps.connections.adapter(target.account)?.activity?.show(target, activity, AbortSignal.timeout(activityTimeoutMs));
  } catch (error) {
    deps.log.debug({ err: error, account: target.account }, 'activity.not_shown');
  }
};

/** What is shown beside the outbox while a turn runs: that we are typing, the answer as it grows, and what the agent is doing. */
export const visibleProgress = (deps: VisibleDeps) => ({
  onEvent: (begun: BegunTurn, event: TurnEvent): void => {
    if (isActivity(event)) void showActivity(deps, begun.turn.target, event);
  },
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
