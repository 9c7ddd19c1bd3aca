import { randomUUID } from 'node:crypto';
import type { Reactions } from '../contract.ts';
import type { MatrixApi, Whoami } from './api.ts';
import { refusedWith } from './errors.ts';

/**
 * Reactions are never encrypted in Matrix: homeservers count them. So one tells the homeserver of an encrypted room which sign was put
 * on which message, and nothing else.
 */
export const newReactions = (api: MatrixApi, me: (signal: AbortSignal) => Promise<Whoami>): Reactions => ({
  async set(target, messageId, emoji, signal) {
    const { chatId: roomId } = target;
    const { userId } = await me(signal);
    const before = await api.ownReactions(roomId, messageId, userId, signal);
    for (const { id } of before.filter((reaction) => reaction.emoji !== emoji)) await api.redact({ roomId, eventId: id, txn: randomUUID() }, signal);
    if (emoji === null || before.some((reaction) => reaction.emoji === emoji)) return;
    const content = { 'm.relates_to': { rel_type: 'm.annotation', event_id: messageId, key: emoji } };
    try {
      await api.send({ roomId, type: 'm.reaction', content, txn: randomUUID() }, signal);
    } catch (error) {
      if (!refusedWith(error, 'M_DUPLICATE_ANNOTATION')) throw error;
    }
  },
});
