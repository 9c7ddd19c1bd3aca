import { randomUUID } from 'node:crypto';
import { PlatformError } from '../core/errors.ts';
import type { OutboundMessage, SendReceipt, Target } from '../core/message.ts';
import type { Choices, Edits, Typing } from './contract.ts';
import { agentMessageId, seqOfMessage } from './journal.ts';
import type { ChatEntry, StoredEntry } from './journal.ts';
import type { Live } from './live.ts';

/** What sending into a chat of our own needs: the journal that its readers follow, and a place for what they see in between. */
export interface OwnChats<File> {
  readonly journal: {
    append(chat: string, key: string, entry: StoredEntry<ChatEntry<File>>): Promise<number>;
    messageAt(chat: string, seq: number): Promise<unknown>;
  };
  readonly live: Live;
  readonly chatId: RegExp;
  readonly maxText: number;
  /** Takes over the files of a message, before it is stored. The same key again answers the same files. */
  files(message: OutboundMessage): Promise<readonly File[]>;
}

const typingEveryMs = 4_000;

/** Refuses what nobody waits for any more and what cannot be a chat. */
export const checkTarget = (chats: Pick<OwnChats<never>, 'chatId'>, target: Target, signal: AbortSignal): void => {
  if (signal.aborted) throw new PlatformError('aborted', 'stopped before it was stored', { cause: signal.reason });
  if (!chats.chatId.test(target.chatId)) throw new PlatformError('chat_gone', 'this is not the id of a chat here');
};

const check = <File>(chats: OwnChats<File>, message: OutboundMessage, signal: AbortSignal): void => {
  checkTarget(chats, message.target, signal);
  if (message.text.length > chats.maxText) throw new PlatformError('too_long', `more than ${chats.maxText} characters`);
};

/** Nothing leaves the machine: what fails here was not stored, and the same key may be tried again. */
export const stored = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw new PlatformError('unavailable', 'the journal could not be written', { cause: error });
  }
};

const said = (message: OutboundMessage): { readonly text: string; readonly plain?: true; readonly choices: NonNullable<OutboundMessage['choices']> } => ({
  text: message.text.toWellFormed(),
  ...(message.plain === true && { plain: true }),
  choices: message.choices ?? [],
});

export const sendToJournal = async <File>(chats: OwnChats<File>, message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt> => {
  const { target } = message;
  check(chats, message, signal);
  const files = await stored(chats.files(message));
  const seq = await stored(
    chats.journal.append(target.chatId, `out:${message.key}`, {
      type: 'message',
      from: 'agent',
      ...said(message),
      ...(message.growing === true && { growing: true }),
      files,
      ...(target.replyTo !== undefined && { replyTo: target.replyTo }),
    }),
  );
  return { messageIds: [agentMessageId(seq)] };
};

const mustExist = async <File>(chats: OwnChats<File>, chat: string, messageId: string): Promise<void> => {
  const seq = seqOfMessage(messageId);
  const frame = seq === undefined ? undefined : await stored(chats.journal.messageAt(chat, seq));
  if (frame === undefined) throw new PlatformError('not_found', 'this message does not exist', { missing: 'message' });
};

/** Live edits are only shown; the final one is stored. Storing it twice shows the same text, so its key need not repeat. */
export const journalEdits = <File>(chats: OwnChats<File>): Edits => ({
  async edit(messageId, message, final, signal) {
    const chat = message.target.chatId;
    check(chats, message, signal);
    if (!chats.live.isGrowing(messageId)) await mustExist(chats, chat, messageId);
    if (!final) {
      chats.live.preview(chat, messageId, message.text.toWellFormed());
      return;
    }
    await stored(chats.journal.append(chat, `edit:${randomUUID()}`, { type: 'edit', id: messageId, ...said(message) }));
    chats.live.settle(messageId);
  },
  async remove(target, messageId, signal) {
    checkTarget(chats, target, signal);
    await mustExist(chats, target.chatId, messageId);
    await stored(chats.journal.append(target.chatId, `remove:${messageId}`, { type: 'remove', id: messageId }));
    chats.live.settle(messageId);
  },
});

export const liveTyping = (chats: Pick<OwnChats<never>, 'chatId' | 'live'>): Typing => ({
  everyMs: typingEveryMs,
  async show(target, signal) {
    checkTarget(chats, target, signal);
    chats.live.typing(target.chatId, typingEveryMs * 1.5);
  },
});

/** A press is stored where it is made; only words about it have to be shown. */
export const liveChoices = (live: Live): Choices => ({
  async answer(event, text) {
    if (text !== undefined) live.notice(event.chat.id, text);
  },
});
