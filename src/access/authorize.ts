import type { InboundEvent } from '../core/message.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Decision } from '../store/messages/inbox.ts';

export interface AccessRules {
  readonly account: Pick<AccountOptions, 'allowed_users' | 'allowed_roles' | 'allow_all_users' | 'allow_bots' | 'group_allowed_chats' | 'group_allowed_users'>;
  /** The platform has already proved who speaks (the page's login). */
  readonly authenticated: boolean;
  /** The person was let in by a code. */
  readonly paired: boolean;
  readonly allowedEverywhere: readonly string[];
  readonly allowAllEverywhere: boolean;
}

export interface Verdict {
  readonly allowed: boolean;
  /** Which rule decided. */
  readonly by: string;
  /** Every rule that was asked, in order. */
  readonly decisions: readonly Decision[];
}

interface Rule {
  readonly step: string;
  /** True allows, false denies, undefined leaves it to the next rule. */
  decide(event: InboundEvent, rules: AccessRules): boolean | undefined;
}

const allowIf = (yes: boolean): true | undefined => (yes ? true : undefined);

const isListed = (event: InboundEvent, ids: readonly string[]): boolean => ids.includes(event.sender.id) || (event.sender.altId !== undefined && ids.includes(event.sender.altId));

/** A thread is as open as the chat it belongs to. */
const isOpenChat = ({ chat }: InboundEvent, ids: readonly string[]): boolean => ids.includes(chat.id) || (chat.parentId !== undefined && ids.includes(chat.parentId));

/** The one order in which every kind of event is judged. Stable ids only; whatever no rule allows is denied. */
const order: readonly Rule[] = [
  { step: 'platform login', decide: (_event, rules) => allowIf(rules.authenticated) },
  {
    step: 'bots',
    decide: (event, { account }) => {
      if (!event.sender.isBot) return undefined;
      return account.allow_bots === 'all' || (account.allow_bots === 'mentions' && event.mentioned) ? undefined : false;
    },
  },
  { step: 'allow_all_users of the account', decide: (_event, { account }) => allowIf(account.allow_all_users) },
  { step: 'group_allowed_chats of the account', decide: (event, { account }) => allowIf(event.chat.type !== 'dm' && isOpenChat(event, account.group_allowed_chats)) },
  { step: 'allowed_users of the account', decide: (event, { account }) => allowIf(isListed(event, account.allowed_users)) },
  { step: 'allowed_roles of the account', decide: (event, { account }) => allowIf(event.sender.roles?.some((role) => account.allowed_roles.includes(role)) === true) },
  { step: 'group_allowed_users of the account', decide: (event, { account }) => allowIf(event.chat.type !== 'dm' && isListed(event, account.group_allowed_users)) },
  { step: 'pairing', decide: (_event, rules) => allowIf(rules.paired) },
  { step: 'GATEWAY_ALLOWED_USERS', decide: (event, rules) => allowIf(isListed(event, rules.allowedEverywhere)) },
  { step: 'GATEWAY_ALLOW_ALL_USERS', decide: (_event, rules) => allowIf(rules.allowAllEverywhere) },
];

/** Every rule decides by who speaks, so this comes before them. */
const verifiedStep = 'verified sender';

/** Decides whether an event may have any effect. Pure: the same event and rules give the same verdict. */
export const authorize = (event: InboundEvent, rules: AccessRules): Verdict => {
  const { unverified } = event.sender;
  if (unverified !== undefined) return { allowed: false, by: verifiedStep, decisions: [{ step: verifiedStep, verdict: `denied: ${unverified}` }] };
  const decisions: Decision[] = [];
  for (const rule of order) {
    const verdict = rule.decide(event, rules);
    if (verdict === undefined) {
      decisions.push({ step: rule.step, verdict: 'no' });
      continue;
    }
    decisions.push({ step: rule.step, verdict: verdict ? 'allowed' : 'denied' });
    return { allowed: verdict, by: rule.step, decisions };
  }
  decisions.push({ step: 'default', verdict: 'denied' });
  return { allowed: false, by: 'default', decisions };
};
