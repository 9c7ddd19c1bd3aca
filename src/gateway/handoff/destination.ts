import type { Target } from '../../core/message.ts';
import { parseTarget, printTarget } from '../../core/target.ts';
import { chatTypeOf, homeOf } from '../../delivery/home-channel.ts';
import type { Platform } from '../../platforms/contract.ts';
import type { Reading } from '../../store/store.ts';
import type { AccountOptions } from '../../platforms/account-options.ts';

/** Why a conversation cannot be moved, in words for whoever asked. */
export class HandoffRefused extends Error {}

export interface DestinationDeps {
  platforms(): readonly Platform[];
  account(name: string): { readonly platform: Platform; readonly common: AccountOptions } | undefined;
}

const refuse = (reason: string): never => {
  throw new HandoffRefused(reason);
};

const readDestination = (deps: Pick<DestinationDeps, 'platforms'>, written: string): ReturnType<typeof parseTarget> => parseTarget(written.trim().toLowerCase() === 'terminal' ? 'local' : written, deps.platforms());

/** The account that a destination belongs to; undefined where it names none. */
export const accountOfDestination = (deps: Pick<DestinationDeps, 'platforms'>, written: string): string | undefined => {
  const parsed = readDestination(deps, written);
  return parsed.type === 'local' ? 'local' : 'account' in parsed ? parsed.account : undefined;
};

/** The chat that a person means by `telegram`, `telegram:-100123:7` or `terminal`. Throws `HandoffRefused` with the reason and the fix. */
export const resolveDestination = async (db: Reading, deps: DestinationDeps, written: string): Promise<Target> => {
  const platforms = deps.platforms();
  const parsed = readDestination(deps, written);
  switch (parsed.type) {
    case 'unknown_platform':
      return refuse(`there is no platform called ${JSON.stringify(parsed.platform)}; known are ${platforms.map(({ name }) => name).join(', ')}`);
    case 'malformed':
    case 'origin':
      return refuse(`${JSON.stringify(written)} names no chat; write a platform, or platform:chat`);
    case 'local':
    case 'home': {
      const account = parsed.type === 'local' ? 'local' : parsed.account;
      if (deps.account(account) === undefined) return refuse(`platform '${account}' is not active in this gateway`);
      const fresh = deps.account(account)?.platform.newChatId?.();
      if (fresh !== undefined) return { account, chatId: fresh, chatType: 'dm' };
      return (await homeOf(db, deps, account)) ?? refuse(`${account} has no home channel; send /sethome in the chat that should be it, or set platforms.${account}.home_channel`);
    }
    case 'chat': {
      const known = deps.account(parsed.account);
      if (known === undefined) return refuse(`platform '${parsed.account}' is not active in this gateway`);
      const chatType = await chatTypeOf(db, known.platform, { account: parsed.account, chatId: parsed.chatId });
      return { account: parsed.account, chatId: parsed.chatId, chatType, ...(parsed.threadId !== undefined && { threadId: parsed.threadId }) };
    }
    case 'name':
      return refuse(`${printTarget(parsed)} names no chat by its id`);
    default:
      throw parsed satisfies never;
  }
};
