import { PlatformError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import type { Places } from './places.ts';
import { isForumType, snowflake } from './wire.ts';

/** The channel that a message goes to: a thread is one of its own. */
export const channelOf = ({ chatId, threadId }: Pick<Target, 'chatId' | 'threadId'>): string => {
  const id = snowflake(threadId ?? chatId);
  if (id === undefined) throw new PlatformError('chat_gone', 'the id of the chat is not one of Discord');
  return id;
};

export const requireMessage = (id: string): string => {
  const message = snowflake(id);
  if (message === undefined) throw new PlatformError('not_found', 'the id of the message is not one of Discord', { missing: 'message' });
  return message;
};

/**
 * Where a message stands. The one that a thread hangs on has the thread's id and stands in the channel above it, except for posts of a
 * forum, which begin with theirs.
 */
export const channelOfMessage = async (places: Places, target: Pick<Target, 'chatId' | 'threadId'>, messageId: string, signal: AbortSignal): Promise<string> => {
  const channelId = channelOf(target);
  if (messageId !== channelId) return channelId;
  const thread = await places.find(channelId, signal);
  const parent = thread?.parentId === undefined ? undefined : await places.find(thread.parentId, signal);
  return parent === undefined || isForumType(parent.type) ? channelId : parent.id;
};
