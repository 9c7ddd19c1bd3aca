import { randomUUID } from 'node:crypto';
import { PlatformError } from '../../core/errors.ts';
import type { MediaRef, OutboundMessage, SendReceipt, Target } from '../../core/message.ts';
import type { Choices, Edits, Media, Reactions, Typing } from '../contract.ts';
import type { Files } from './files.ts';
import { agentMessageId, seqOfMessage } from './journal.ts';
import type { Journal } from './journal.ts';
import type { Live } from './live.ts';
import { chatId, maxFileBytes, maxTextLength } from './wire.ts';
import type { EditEntry } from './wire.ts';

export interface SendDeps {
  readonly journal: Journal;
  readonly live: Live;
  readonly files: Files;
}

const typingEveryMs = 4_000;

const check = (target: Target, signal: AbortSignal): void => {
  if (signal.aborted) throw new PlatformError('aborted', 'stopped before it was stored', { cause: signal.reason });
  if (!chatId.test(target.chatId)) throw new PlatformError('chat_gone', 'this is not the id of a chat of the page');
};

const checkText = (message: OutboundMessage): void => {
  if (message.text.length > maxTextLength) throw new PlatformError('too_long', `more than ${maxTextLength} characters`);
};

/** Nothing leaves the machine: what fails here was not stored, and the same key may be tried again. */
const stored = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw new PlatformError('unavailable', 'the page\'s journal could not be written', { cause: error });
  }
};

const adoptAll = async (message: OutboundMessage, files: Files) => {
  const media = message.media ?? [];
  try {
    return await Promise.all(media.map((one, index) => files.adopt(one, `${message.key}:${index}`)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new PlatformError('not_found', 'a file to send does not exist', { missing: 'file', cause: error });
  }
};

export const sendMessage = async (deps: SendDeps, message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt> => {
  const { target } = message;
  check(target, signal);
  checkText(message);
  const files = await stored(adoptAll(message, deps.files));
  const seq = await stored(
    deps.journal.append(target.chatId, `out:${message.key}`, {
      type: 'message',
      from: 'agent',
      text: message.text.toWellFormed(),
      ...(message.plain === true && { plain: true }),
      files,
      choices: message.choices ?? [],
      ...(target.replyTo !== undefined && { replyTo: target.replyTo }),
    }),
  );
  await stored(deps.journal.touch(target.chatId, message.text));
  return { messageIds: [agentMessageId(seq)] };
};

const mustExist = async (deps: SendDeps, chat: string, messageId: string): Promise<void> => {
  const seq = seqOfMessage(messageId);
  const frame = seq === undefined ? undefined : await stored(deps.journal.messageAt(chat, seq));
  if (frame === undefined) throw new PlatformError('not_found', 'this message does not exist', { missing: 'message' });
};

const editEntry = (messageId: string, message: OutboundMessage): EditEntry => ({
  type: 'edit',
  id: messageId,
  text: message.text.toWellFormed(),
  ...(message.plain === true && { plain: true }),
  choices: message.choices ?? [],
});

/** Live edits are only shown; the final one is stored. Storing it twice shows the same text, so its key need not repeat. */
export const newEdits = (deps: SendDeps): Edits => ({
  async edit(messageId, message, final, signal) {
    const chat = message.target.chatId;
    check(message.target, signal);
    checkText(message);
    if (!deps.live.isGrowing(messageId)) await mustExist(deps, chat, messageId);
    if (!final) {
      deps.live.preview(chat, messageId, message.text.toWellFormed());
      return;
    }
    await stored(deps.journal.append(chat, `edit:${randomUUID()}`, editEntry(messageId, message)));
    deps.live.settle(messageId);
  },
  async remove(target, messageId, signal) {
    check(target, signal);
    await mustExist(deps, target.chatId, messageId);
    await stored(deps.journal.append(target.chatId, `remove:${messageId}`, { type: 'remove', id: messageId }));
    deps.live.settle(messageId);
  },
});

export const newTyping = (live: Live): Typing => ({
  everyMs: typingEveryMs,
  async show(target, signal) {
    check(target, signal);
    live.typing(target.chatId, typingEveryMs * 1.5);
  },
});

export const newReactions = (journal: Journal): Reactions => ({
  async set(target, messageId, emoji, signal) {
    check(target, signal);
    await stored(journal.append(target.chatId, `reaction:${randomUUID()}`, { type: 'reaction', id: messageId, emoji }));
  },
});

/** A press is stored by the page itself; only words about it have to be shown. */
export const newChoices = (live: Live): Choices => ({
  async answer(event, text) {
    if (text !== undefined) live.notice(event.chat.id, text);
  },
});

export const newMedia = (files: Files): Media => ({
  maxDownloadBytes: maxFileBytes,
  maxUploadBytes: maxFileBytes,
  async open(media: MediaRef) {
    const file = await files.find(String(media.ref['file'] ?? ''));
    if (file === undefined) throw new PlatformError('not_found', 'this file is gone', { missing: 'file' });
    return files.read(file.id);
  },
});
