import type { ChatType, Target } from '../core/message.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Platform } from '../platforms/contract.ts';
import { knownTarget } from '../store/sessions/bound-places.ts';
import { findHome } from '../store/sessions/homes.ts';
import type { Reading } from '../store/store.ts';

export interface HomeDeps {
  /** An account that is configured. */
  account(name: string): { readonly platform: Platform; readonly common: Pick<AccountOptions, 'home_channel'> } | undefined;
}

/** What is known about a chat that has only been written down: people have spoken there, or its id says it. */
export const chatTypeOf = async (db: Reading, platform: Platform, chat: { readonly account: string; readonly chatId: string }): Promise<ChatType> =>
  (await knownTarget(db, chat))?.chatType ?? platform.chatTypeOf?.(chat.chatId) ?? 'dm';

/** The chat of an account that gets what nobody asked for: chosen in the chat itself, or in the configuration. */
export const homeOf = async (db: Reading, deps: HomeDeps, account: string): Promise<Target | undefined> => {
  const chosen = await findHome(db, account);
  if (chosen !== undefined) return chosen.target;
  const known = deps.account(account);
  const home = known?.common.home_channel;
  if (known === undefined || home === undefined) return undefined;
  return {
    account,
    chatId: home.chat_id,
    chatType: await chatTypeOf(db, known.platform, { account, chatId: home.chat_id }),
    ...(home.thread_id !== undefined && { threadId: home.thread_id }),
  };
};
