import { authorize } from '../../access/authorize.ts';
import type { Verdict } from '../../access/authorize.ts';
import { foreseeBot } from '../../access/bot-loop-guard.ts';
import { commandAccess } from '../../access/command-access.ts';
import type { CommandAccess } from '../../access/command-access.ts';
import type { AccountConfig } from '../../config/read-accounts.ts';
import { ConfigError } from '../../core/errors.ts';
import type { ChatType, InboundEvent } from '../../core/message.ts';
import type { Platform } from '../../platforms/contract.ts';
import { platforms } from '../../platforms/registry.ts';
import { isPaired } from '../../store/accounts/pairing.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../configuration/settings.ts';

/** An account that runs, with everything that decides about its events. */
export interface KnownAccount {
  readonly config: Config;
  readonly account: AccountConfig;
  readonly platform: Platform;
}

export const findAccount = (config: Config, name: string): KnownAccount => {
  const disabled = config.disabled.find(({ account }) => account === name);
  if (disabled !== undefined) throw new ConfigError(`The account ${name} is disabled; hermes config check says why.`);
  const account = config.accounts.find((candidate) => candidate.account === name);
  const platform = platforms.find((candidate) => candidate.name === account?.platform);
  if (account === undefined || platform === undefined) throw new ConfigError(`There is no account ${name}. Configured: ${config.accounts.map((one) => one.account).join(', ')}`);
  return { config, account, platform };
};

/** An event as somebody imagines it on the command line. */
export interface ImaginedEvent {
  readonly platform: string;
  readonly chat: string;
  readonly user: string;
  readonly type: string;
  readonly thread?: string;
  readonly guild?: string;
  readonly parent?: string;
  readonly userAlt?: string;
  readonly role?: string;
  readonly name?: string;
  readonly bot?: true;
}

export const chatTypes: readonly ChatType[] = ['dm', 'group', 'channel', 'thread'];

export const imagine = (flags: ImaginedEvent, text: string): InboundEvent => {
  const type = chatTypes.find((known) => known === flags.type);
  if (type === undefined) throw new ConfigError(`--type is one of ${chatTypes.join(', ')}, not ${flags.type}`);
  return {
    account: flags.platform,
    kind: 'message',
    nativeId: 'imagined',
    chat: {
      id: flags.chat,
      type,
      ...(flags.thread !== undefined && { threadId: flags.thread }),
      ...(flags.guild !== undefined && { scopeId: flags.guild }),
      ...(flags.parent !== undefined && { parentId: flags.parent }),
    },
    sender: { id: flags.user, isBot: flags.bot === true, ...(flags.userAlt !== undefined && { altId: flags.userAlt }), ...(flags.role !== undefined && { roles: [flags.role] }), ...(flags.name !== undefined && { name: flags.name }) },
    text,
    media: [],
    addressed: true,
    mentioned: false,
    sentAtMs: 0,
  };
};

const userIdsOf = ({ sender: { id, altId } }: InboundEvent): readonly string[] => (altId === undefined ? [id] : [id, altId]);

/** The gateway's own verdict about an event, and every decision on the way to it. */
export const judgeEvent = async (store: Store, known: KnownAccount, event: InboundEvent): Promise<Verdict> => {
  const { access, bot_loop_guard: guard } = known.config.sections;
  const paired = await store.read((db) => isPaired(db, event.account, userIdsOf(event)));
  const verdict = authorize(event, { account: known.account.common, authenticated: known.platform.authenticatesSenders, paired, allowedEverywhere: access.allowed_users, allowAllEverywhere: access.allow_all_users });
  const bot = verdict.allowed ? await store.read((db) => foreseeBot(db, event, guard)) : undefined;
  return bot === undefined ? verdict : { allowed: bot.heard, by: bot.heard ? verdict.by : bot.decision.step, decisions: [...verdict.decisions, bot.decision] };
};

/** What the sender of an event may do once let in. */
export const accessOf = (known: KnownAccount, event: InboundEvent): CommandAccess =>
  commandAccess({ rules: known.account.common, chatType: event.chat.type, userIds: userIdsOf(event), authenticated: known.platform.authenticatesSenders });
