import type { InboundEvent } from '../core/message.ts';
import { continues } from '../sessions/user-message.ts';

/** Knows what people have just begun to say to us, for what follows need not name us again. */
export interface Continuations {
  /** The event as the next part of that; as it is when it is something of its own. */
  join(event: InboundEvent): InboundEvent;
  /** It was stored. */
  began(event: InboundEvent): void;
}

/** Parts follow each other within seconds; more people than this do not begin something in that time. */
const mostKept = 500;

const keyOf = (event: InboundEvent, chatId: string): string => JSON.stringify([event.account, chatId, event.sender.id]);

/**
 * In groups a client names us in the first picture of an album, or in the first piece of a text that it had to cut; the others are meant for us all the
 * same. A piece stands in the chat, though the first may have its thread below it.
 */
export const newContinuations = (): Continuations => {
  const begun = new Map<string, InboundEvent>();
  const placesOf = ({ chat }: InboundEvent): readonly string[] => [chat.id, ...(chat.parentId === undefined ? [] : [chat.parentId])];
  return {
    join(event) {
      const last = event.addressed || event.kind !== 'message' ? undefined : begun.get(keyOf(event, event.chat.id));
      if (last === undefined) return event;
      const part = { ...event, chat: last.chat, addressed: true };
      return continues(last, part) ? part : event;
    },
    began(event) {
      for (const chatId of placesOf(event)) {
        const key = keyOf(event, chatId);
        begun.delete(key);
        if (event.batch !== undefined && event.batch.kind !== 'calls') begun.set(key, event);
      }
      for (const oldest of begun.keys()) {
        if (begun.size <= mostKept) break;
        begun.delete(oldest);
      }
    },
  };
};
