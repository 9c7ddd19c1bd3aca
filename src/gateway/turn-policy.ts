import { replyTarget } from '../core/message.ts';
import { isShared } from '../core/session-key.ts';
import type { SessionSharing } from '../core/session-key.ts';
import { settleCronTurn } from '../cron/settle-turn.ts';
import { withoutAnchor } from '../delivery/compose.ts';
import type { Clock } from '../lib/clock.ts';
import type { TurnPolicy } from '../sessions/turn-policy.ts';
import type { Accounts } from './accounts.ts';
import { busyModeOf } from './admit.ts';
import { newAgentLimits } from './agents/agent-limits.ts';
import { settleApiCall } from './api/settle-call.ts';
import { judge } from './judge.ts';
import type { GatewaySettings } from './settings.ts';

export interface PolicyDeps {
  readonly clock: Clock;
  settings(): GatewaySettings;
  readonly accounts: Accounts;
  /** Calls of an agent that belong to no conversation. */
  singles(agent: string): number;
}

const maxAttempts = 3;

/** Whose conversation it is where several people speak. */
export const sharingOf = (settings: GatewaySettings): SessionSharing => ({ groupSessionsPerUser: settings.group_sessions_per_user, threadSessionsPerUser: settings.thread_sessions_per_user });

/** What holds for turns in this gateway, by its settings and accounts as they are at that moment. */
export const turnPolicy = ({ clock, settings, accounts, singles }: PolicyDeps): TurnPolicy => ({
  maxAttempts,
  continueWithinMs: () => settings().agent.gateway_auto_continue_freshness * 1000,
  settle: (turn) => settleApiCall(turn) ?? settleCronTurn(turn),
  busyMode: (session) => busyModeOf({ settings, account: (name) => accounts.find(name) }, session),
  isShared: ([item]) => item.event.chat.type !== 'dm' && isShared(item.event.chat, sharingOf(settings())),
  async denied(db, event) {
    const known = accounts.find(event.account);
    // Programs have keys of their own, and what belongs to an account that another gateway has is judged there.
    if (known === undefined) return undefined;
    const { allowed, by } = await judge(event, { known, access: settings().access, read: (look) => look(db) });
    return allowed ? undefined : `denied by ${by}, before it was answered`;
  },
  platform: (account) => accounts.platform(account),
  replyTo: (event) => (accounts.find(event.account)?.common.reply_to_mode === 'off' && event.awaitsAnswer !== true ? withoutAnchor(replyTarget(event)) : replyTarget(event)),
  anchorAll: (account) => accounts.find(account)?.common.reply_to_mode === 'all',
  limits: newAgentLimits({ clock, settings, platform: (account) => accounts.platform(account), singles }),
});
