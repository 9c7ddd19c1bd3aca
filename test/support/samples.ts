import type { InboundEvent, OutboundMessage, Target } from '../../src/core/message.ts';
import type { Delivery } from '../../src/store/messages/outbox.ts';

let count = 0;

/** A direct message that nobody has sent before, unless told otherwise. */
export const sampleEvent = (facts: Partial<InboundEvent> = {}): InboundEvent => {
  count += 1;
  return {
    account: 'telegram',
    kind: 'message',
    nativeId: `native-${count}`,
    chat: { id: 'chat-1', type: 'dm' },
    sender: { id: 'user-1', isBot: false },
    text: `message ${count}`,
    media: [],
    addressed: true,
    mentioned: false,
    sentAtMs: 0,
    ...facts,
  };
};

export const sampleTarget = (facts: Partial<Target> = {}): Target => ({ account: 'telegram', chatId: 'chat-1', chatType: 'dm', ...facts });

export const sampleDelivery = (facts: Partial<OutboundMessage> = {}): Delivery => {
  count += 1;
  return { message: { key: `key-${count}`, target: sampleTarget(), text: `answer ${count}`, ...facts } };
};
