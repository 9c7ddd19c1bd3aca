import { accountOptions } from '../platforms/account-options.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { web } from '../platforms/web/index.ts';
import type { ChatRef } from '../core/target.ts';
import { chatsLike } from '../core/target.ts';
import type { ChannelAliases } from './channel-options.ts';
import type { ResolveDeps } from './resolve-target.ts';

const readSlack = (ref: string): ChatRef | undefined => {
  const user = /^<@(U[A-Z0-9]+)(?:\|[^>]*)?>$/.exec(ref)?.[1];
  if (user !== undefined) return { chatId: `user:${user}` };
  if (/^@[\w.-]+$/.test(ref)) return { chatId: `user_name:${ref.slice(1)}` };
  return chatsLike(/^[CDGU][A-Za-z0-9]{6,}$/)(ref);
};

/** How chats are written on platforms that have a way of their own. */
const readers: Readonly<Record<string, Platform['readChat']>> = {
  slack: readSlack,
  matrix: chatsLike(/^[!@][^:]+(?::[^:$]+(?::\d+)?)?$/),
  signal: chatsLike(/^(?:group:[\w+/=-]+|\+\d+)$/),
  feishu: chatsLike(/^o[cu]_\w+$/),
  ntfy: (topic) => ({ chatId: topic }),
  webhook: (route) => ({ chatId: route }),
};

const names = ['discord', 'whatsapp', 'sms', 'email', 'weixin', 'xmpp', 'mattermost', 'api_server', ...Object.keys(readers)];

/** Telegram as it is, and other platforms that differ from it in their name and in how their chats are written. */
export const testPlatforms: readonly Platform[] = [telegram as Platform, web as Platform, ...names.map((name): Platform => ({ ...(telegram as Platform), name, label: name, chatTypeOf: () => undefined, ...(readers[name] !== undefined && { readChat: readers[name] }) }))];

export interface TestTargets {
  /** Accounts in the order of the configuration; all platforms when left out. */
  readonly accounts?: readonly string[];
  /** `home_channel` by account. */
  readonly homes?: Readonly<Record<string, string>>;
  readonly aliases?: ChannelAliases;
}

export const testTargets = ({ accounts = testPlatforms.map(({ name }) => name), homes = {}, aliases = {} }: TestTargets = {}): ResolveDeps => ({
  platforms: () => testPlatforms,
  accounts: () => accounts,
  account(name) {
    const platform = testPlatforms.find((each) => each.name === name.split('@', 1)[0]);
    const home = homes[name];
    const common = accountOptions.parse(home === undefined ? {} : { home_channel: { chat_id: home } });
    return platform === undefined || !accounts.includes(name) ? undefined : { platform, common };
  },
  aliases: () => aliases,
});
