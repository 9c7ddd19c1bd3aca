import { PlatformError } from '../../core/errors.ts';
import type { OutboundMessage, SendReceipt } from '../../core/message.ts';
import type { Edits, Threads } from '../contract.ts';
import { randomUUID } from 'node:crypto';
import type { MatrixApi } from './api.ts';
import { editContent, mentionsOf, relationOf, txnOf, wordsOf } from './compose.ts';
import type { MatrixOptions } from './options.ts';
import type { Outgoing } from './outgoing.ts';
import type { Timeline } from './timeline.ts';
import type { TypingSign } from './typing.ts';
import { prepareUploads, uploadFile } from './uploads.ts';
import type { Upload } from './uploads.ts';
import type { Json } from './wire.ts';

export interface Sending {
  readonly api: MatrixApi;
  readonly options: MatrixOptions;
  readonly outgoing: Outgoing;
  readonly timeline: Timeline;
  readonly typing: TypingSign;
}

/** One event in the room; `words` says that the text of the message goes with it. */
interface Part {
  readonly upload?: Upload;
  readonly words: boolean;
}

/** The words stand below a file that is alone; several files come after them. */
const planParts = (message: OutboundMessage, uploads: readonly Upload[]): readonly Part[] => {
  const hasText = message.text.trim() !== '';
  const [only] = uploads;
  if (only !== undefined && uploads.length === 1) return [{ upload: only, words: hasText }];
  return [...(hasText ? [{ words: true }] : []), ...uploads.map((upload) => ({ upload, words: false }))];
};

const contentOf = async ({ api, options, outgoing }: Sending, message: OutboundMessage, part: Part, signal: AbortSignal): Promise<Json> => {
  const words = part.words ? wordsOf(message) : {};
  const mentions = mentionsOf(part.words ? message : { text: '' }, options);
  if (part.upload === undefined) return { msgtype: message.quiet === true ? 'm.notice' : 'm.text', ...words, ...mentions };
  const isSecret = await outgoing.isEncrypted(message.target.chatId, signal);
  return { ...(await uploadFile(api, part.upload, isSecret, signal)), ...words, ...mentions };
};

/** Sends one message. Its events have names that stay the same on a repeat, so that the homeserver shows each once. */
export const newSend = (sending: Sending) => async (message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt> => {
  const { options, outgoing, timeline, typing } = sending;
  const { chatId: roomId, threadId } = message.target;
  const parts = planParts(message, await prepareUploads(message.media ?? [], options.max_media_bytes));
  if (parts.length === 0) throw new PlatformError('rejected', 'there is nothing to send');
  if (signal.aborted) throw new PlatformError('aborted', 'aborted');
  if (threadId !== undefined) await timeline.joinThread(roomId, threadId);
  const quiet = typing.end(roomId, signal);
  const messageIds: string[] = [];
  for (const [index, part] of parts.entries()) {
    const content = { ...(await contentOf(sending, message, part, signal)), ...relationOf(message.target, index === 0) };
    messageIds.push(await outgoing.post({ roomId, type: 'm.room.message', content, txn: txnOf(message.key, String(index)) }, signal));
  }
  await quiet;
  return { messageIds };
};

/** The homeserver takes edits of messages that are gone, so the last one looks first. */
export const newEdits = ({ api, options, outgoing }: Sending): Edits => ({
  async edit(messageId, message, final, signal) {
    const { chatId: roomId } = message.target;
    if (final) {
      const original = await api.event(roomId, messageId, signal);
      if (original === undefined || original.isRedacted) throw new PlatformError('not_found', 'the message is gone', { missing: 'message' });
    }
    const written = final ? message : { text: message.text, plain: true };
    const txn = txnOf(message.key, messageId, message.text, String(final));
    await outgoing.post({ roomId, type: 'm.room.message', content: editContent(messageId, written, options), txn }, signal);
  },
  async remove(target, messageId, signal) {
    await api.redact({ roomId: target.chatId, eventId: messageId, txn: txnOf('remove', messageId) }, signal);
  },
});

/** A thread hangs on a message: its name, written into the room. */
export const newThreads = ({ outgoing, options }: Sending): Threads => ({
  async open(chat, name, signal) {
    const { replyTo: _elsewhere, threadId: _other, ...place } = chat;
    const title = { text: name.trim() || 'Thread', plain: true };
    const content = { msgtype: 'm.text', ...wordsOf(title), ...mentionsOf(title, options) };
    return { ...place, threadId: await outgoing.post({ roomId: chat.chatId, type: 'm.room.message', content, txn: randomUUID() }, signal) };
  },
});
