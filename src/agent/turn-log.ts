import type { Logger } from '../lib/logger.ts';
import type { TurnInput } from './contract.ts';

/** Whatever an agent says about a turn can be found by its account and its chat. */
export const turnLog = (log: Logger, { turnId, place: { target } }: Pick<TurnInput, 'turnId' | 'place'>): Logger => log.child({ account: target.account, chat: target.chatId, thread: target.threadId, turnId });
