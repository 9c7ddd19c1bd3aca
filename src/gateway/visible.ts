import type { Target } from '../core/message.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { Connections } from '../delivery/connections.ts';
import { displayOf } from '../delivery/display.ts';
import type { DisplaySettings } from '../delivery/display.ts';
import type { DeliveryGate } from '../delivery/gate.ts';
import { LivePreview } from '../delivery/preview.ts';
import { ToolProgress } from '../delivery/tool-progress.ts';
import { showTyping } from '../delivery/typing.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Activity } from '../platforms/contract.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import { outLane } from '../store/lanes/lanes.ts';
import { hasOpenDeliveries } from '../store/messages/outbox.ts';
import { recordPreview } from '../store/sessions/turns.ts';
import type { Store } from '../store/store.ts';
import type { GatewaySettings } from './settings.ts';

export interface VisibleDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly gate: DeliveryGate;
  readonly connections: Connections;
  readonly hooks: Pick<Hooks, 'decides'>;
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

/** How a turn is shown: the account's word, then the settings, then what the person has set for the conversation. */
export const displayFor = (deps: Pick<VisibleDeps, 'connections' | 'settings' | 'common' | 'hooks'>, begun: BegunTurn): DisplaySettings | undefined => {
  const { account } = begun.turn.target;
  const platform = deps.connections.platform(account);
  if (platform === undefined) return undefined;
  const display = displayOf(deps.settings().display, platform);
  const streaming = deps.common(account)?.streaming;
  const { toolProgress, footer, showReasoning, fullReasoning } = begun.session.settings;
  return {
    ...display,
    ...(streaming !== undefined && { streaming }),
    ...(toolProgress !== undefined && { tool_progress: toolProgress }),
    ...(showReasoning !== undefined && { show_reasoning: showReasoning }),
    ...(fullReasoning !== undefined && { reasoning_full: fullReasoning }),
    ...(footer !== undefined && { runtime_footer: { ...display.runtime_footer, enabled: footer } }),
    // Where a hook decides what is said, nothing is shown before it has.
    ...(deps.hooks.decides('message:outbound', begun.session.agent) && { streaming: false, show_reasoning: false }),
  };
};

/** A message that shows the text it is given for as long as the turn runs. */
const openMessage = (deps: VisibleDeps, begun: BegunTurn, message: { key: string; mark?: string; existing?: string; onShown(messageId: string): Promise<void> }): LivePreview | undefined => {
  const { target } = begun.turn;
  const limits = deps.connections.platform(target.account)?.limits;
  if (limits === undefined) return undefined;
  return new LivePreview({
    ...message,
    target,
    connections: deps.connections,
    gate: deps.gate,
    clock: deps.clock,
    log: deps.log,
    delayMs: limits.editIntervalMs,
    mustWait: () => deps.store.read((db) => hasOpenDeliveries(db, outLane(target.account, target.chatId))),
  });
};

/** Undefined where calls are shown in the platform's own way, or cannot be shown at all. */
const toolProgress = (deps: VisibleDeps, begun: BegunTurn): ToolProgress | undefined => {
  const { turn } = begun;
  const adapter = deps.connections.adapter(turn.target.account);
  const display = displayFor(deps, begun);
  if (display === undefined || adapter?.edits === undefined || adapter.activity !== undefined) return undefined;
  const shown: string[] = [];
  const open = (number: number): LivePreview | undefined =>
    openMessage(deps, begun, { key: `progress:${turn.id}:${turn.attempts}:${number}`, mark: '', onShown: async (messageId) => void shown.push(messageId) });
  const cleanUp = async (): Promise<void> => {
    if (!display.cleanup_progress) return;
    for (const messageId of shown) await adapter.edits?.remove(turn.target, messageId, AbortSignal.timeout(activityTimeoutMs));
  };
  return new ToolProgress({ display, clock: deps.clock, open, cleanUp, onError: (error) => deps.log.debug({ err: error, account: turn.target.account }, 'progress.not_shown') });
};

/** What is shown beside the outbox while a turn runs: that we are typing, the answer as it grows, and what the agent is doing. */
export const visibleProgress = (deps: VisibleDeps) => ({
  display: (begun: BegunTurn): DisplaySettings | undefined => displayFor(deps, begun),
  progress: (begun: BegunTurn): ToolProgress | undefined => toolProgress(deps, begun),
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
    if (displayFor(deps, begun)?.streaming !== true) return undefined;
    return openMessage(deps, begun, {
      key: `preview:${turn.id}:${turn.attempts}:${part}`,
      ...(part === 0 && turn.preview !== null && { existing: turn.preview.messageId }),
      onShown: (messageId) => deps.store.write((tx) => recordPreview(tx, turn.id, { account: turn.target.account, messageId })),
    });
  },
});
