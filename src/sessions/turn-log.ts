import type { Logger } from '../lib/logger.ts';
import type { BegunTurn } from './begin.ts';

/** Whatever is said about a turn can be found by its account and its chat. */
export const turnLog = (log: Logger, { turn }: Pick<BegunTurn, 'turn'>): Logger => log.child({ account: turn.target.account, chat: turn.target.chatId, thread: turn.target.threadId, turn: turn.id });
