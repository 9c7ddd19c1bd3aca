import type { Target } from '../core/message.ts';
import { printTarget } from '../core/target.ts';

/** A chat as it is written in a target. */
export const printPlace = ({ account, chatId, threadId }: Target): string => printTarget({ type: 'chat', account, chatId, ...(threadId !== undefined && { threadId }) });
