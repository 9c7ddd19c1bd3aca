import type { Target } from '../../core/message.ts';
import { replyTarget } from '../../core/message.ts';
import { enqueueText } from '../../delivery/compose.ts';
import { localDay, nextDayMs } from '../../lib/local-day.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Platform } from '../../platforms/contract.ts';
import type { AgentOptions } from '../../routing/options.ts';
import type { ConversationLimits, Wait } from '../../sessions/conversation-limits.ts';
import { deferLane, lockAgent, readyTurnsBut, turnsAtWork, wakeNextOf } from '../../store/lanes/agent-lanes.ts';
import { spendOf } from '../../store/agents/agent-spend.ts';
import { waitingItems } from '../../store/messages/inbox.ts';
import { releaseLane } from '../../store/lanes/lanes.ts';
import { findSession } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Reading, Writing } from '../../store/store.ts';
import { unfinishedTurn } from '../../store/sessions/turns.ts';
import type { GatewaySettings } from '../settings.ts';

export interface AgentLimitsDeps {
  readonly clock: Clock;
  settings(): Pick<GatewaySettings, 'agents'>;
  platform(account: string): Platform | undefined;
  /** Turns of an agent that belong to no conversation. */
  singles?(agent: string): number;
}

const isLimited = ({ max_concurrent_turns, daily_spend_usd }: AgentOptions): boolean => max_concurrent_turns !== undefined || daily_spend_usd !== undefined;

/** Whether conversations that wait for tomorrow have to be looked at again. */
export const spendLimitsDiffer = (before: Pick<GatewaySettings, 'agents'>, after: Pick<GatewaySettings, 'agents'>): boolean =>
  [...new Set([...Object.keys(before.agents), ...Object.keys(after.agents)])].some((id) => before.agents[id]?.daily_spend_usd !== after.agents[id]?.daily_spend_usd);

const sessionOf = (db: Reading, lane: string): Promise<Session | undefined> => findSession(db, lane.slice('turn:'.length));

/** Whose message waits, or whose turn was cut off. */
const waitingTarget = async (tx: Writing, lane: string): Promise<Target | undefined> => {
  const [first] = await waitingItems(tx, lane, 1);
  return first === undefined ? (await unfinishedTurn(tx, lane))?.target : replyTarget(first.event);
};

const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const notice = (): string => `⏸ I have reached my limit for today. What you write is kept, and I go on at midnight (${zone()}).`;

/** What agents may do at once and spend in a day. For agents without limits nothing is asked of the store. */
export const newAgentLimits = (deps: AgentLimitsDeps): ConversationLimits => {
  const limited = (): readonly (readonly [string, AgentOptions])[] => Object.entries(deps.settings().agents).filter(([, options]) => isLimited(options));
  const limitsOf = async (db: Reading, lane: string): Promise<{ readonly session: Session; readonly options: AgentOptions } | undefined> => {
    if (limited().length === 0) return undefined;
    const session = await sessionOf(db, lane);
    const options = session === undefined ? undefined : deps.settings().agents[session.agent];
    return session === undefined || options === undefined || !isLimited(options) ? undefined : { session, options };
  };

  const isFull = async (tx: Writing, agent: string, most: number | undefined): Promise<boolean> => {
    if (most === undefined) return false;
    await lockAgent(tx, agent);
    return ((await turnsAtWork(tx)).get(agent) ?? 0) + (deps.singles?.(agent) ?? 0) >= most;
  };

  /** Only where somebody can be told, and told again when it goes on; elsewhere the turn begins, and its first call says why it ends. */
  const waitForTomorrow = async (tx: Writing, lane: string, at: { agent: string; day: string; nowMs: number }): Promise<Wait | undefined> => {
    const target = await waitingTarget(tx, lane);
    const platform = target === undefined ? undefined : deps.platform(target.account);
    if (target === undefined || platform?.asyncDelivery !== true) return undefined;
    await enqueueText(tx, platform, { key: `spend:${at.agent}:${at.day}:${target.account}:${target.chatId}`, target, text: notice() });
    const ms = nextDayMs(at.nowMs) - at.nowMs;
    await deferLane(tx, lane, ms);
    return { type: 'wait', ms };
  };

  return {
    async holdBack(tx, lane) {
      const found = await limitsOf(tx, lane);
      if (found === undefined) return undefined;
      const { session, options } = found;
      if (await isFull(tx, session.agent, options.max_concurrent_turns)) return { type: 'wait', ms: undefined };
      if (options.daily_spend_usd === undefined) return undefined;
      const nowMs = deps.clock.now();
      const at = { agent: session.agent, day: localDay(nowMs), nowMs };
      return (await spendOf(tx, at)).usd < options.daily_spend_usd ? undefined : waitForTomorrow(tx, lane, at);
    },

    async handBack(tx, claim) {
      const found = await limitsOf(tx, claim.lane);
      if (found === undefined) return undefined;
      // First whoever has waited longer: the lane itself comes behind them.
      if (found.options.max_concurrent_turns !== undefined) await wakeNextOf(tx, found.session.agent);
      await releaseLane(tx, claim, { more: true, readyInMs: 0 });
      return { type: 'wait', ms: undefined };
    },

    async ready(db, limit) {
      const counted = limited().filter(([, options]) => options.max_concurrent_turns !== undefined);
      const atWork = counted.length === 0 ? new Map<string, number>() : await turnsAtWork(db);
      return readyTurnsBut(db, counted.filter(([id, options]) => (atWork.get(id) ?? 0) + (deps.singles?.(id) ?? 0) >= (options.max_concurrent_turns ?? Infinity)).map(([id]) => id), limit);
    },
  };
};
