import { PlatformError } from '../../core/errors.ts';
import type { OutboundMessage, SendReceipt } from '../../core/message.ts';
import type { AccountData } from '../contract.ts';
import { stored } from '../journal-sending.ts';

/** What was answered to a call, as whoever called reads it. */
export interface Answer {
  readonly id: string;
  /** The delivery that it answers. */
  readonly delivery: string;
  readonly text: string;
  /** The text is no markdown. */
  readonly plain?: true;
  readonly at: string;
}

export interface Answers {
  keep(message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt>;
  /** The newest of a chat, oldest first. */
  list(chatId: string): Promise<readonly Answer[]>;
  /** The first answer to a delivery; undefined when the signal comes before it. Whichever process sends the answer, this one sees it. */
  next(chatId: string, delivery: string, signal: AbortSignal): Promise<Answer | undefined>;
}

export const maxAnswerLength = 100_000;
const mostListed = 100;
const chatShape = /^[A-Za-z0-9][\w-]{0,63}(?:\/[\w.-]{1,100})?$/;

type Kept = Pick<Answer, 'delivery' | 'text' | 'plain'>;

const deliveryIn = ({ chatId, replyTo }: OutboundMessage['target']): string => replyTo ?? chatId.split('/')[1] ?? '';

/** Answers wait in the account's journal until whoever called comes for them: nothing is sent anywhere. */
export const openAnswers = (data: AccountData): Answers => {
  const list: Answers['list'] = async (chatId) =>
    (await data.tail({ stream: chatId, limit: mostListed })).map(({ seq, entry, atMs }) => ({ id: `a${seq}`, ...(JSON.parse(entry) as Kept), at: new Date(atMs).toISOString() }));
  return {
    list,
    async keep({ key, target, text, plain }, signal) {
      if (signal.aborted) throw new PlatformError('aborted', 'stopped before it was stored', { cause: signal.reason });
      if (!chatShape.test(target.chatId)) throw new PlatformError('chat_gone', 'this is not the id of a call');
      if (text.length > maxAnswerLength) throw new PlatformError('too_long', `more than ${maxAnswerLength} characters`);
      const kept: Kept = { delivery: deliveryIn(target), text: text.toWellFormed(), ...(plain === true && { plain: true }) };
      return { messageIds: [`a${await stored(data.append(target.chatId, key, JSON.stringify(kept)))}`] };
    },
    async next(chatId, delivery, signal) {
      for (;;) {
        const changed = Promise.withResolvers<void>();
        const wake = (): void => changed.resolve();
        using _watching = data.watch(wake);
        const found = (await list(chatId)).find((answer) => answer.delivery === delivery);
        if (found !== undefined || signal.aborted) return found;
        signal.addEventListener('abort', wake, { once: true });
        await changed.promise;
        signal.removeEventListener('abort', wake);
      }
    },
  };
};
