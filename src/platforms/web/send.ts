import { randomUUID } from 'node:crypto';
import { PlatformError } from '../../core/errors.ts';
import type { MediaRef, OutboundMessage } from '../../core/message.ts';
import type { ChatNames, Media, Reactions } from '../contract.ts';
import { checkTarget, stored } from '../journal-sending.ts';
import type { OwnChats } from '../journal-sending.ts';
import type { Live } from '../live.ts';
import type { Files } from './files.ts';
import type { WebJournal } from './journal.ts';
import { chatId, maxFileBytes, maxTextLength } from './wire.ts';
import type { WireFile } from './wire.ts';

const adoptAll = async (message: OutboundMessage, files: Files): Promise<readonly WireFile[]> => {
  const media = message.media ?? [];
  try {
    return await Promise.all(media.map((one, index) => files.adopt(one, `${message.key}:${index}`)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new PlatformError('not_found', 'a file to send does not exist', { missing: 'file', cause: error });
  }
};

/** The page's chats, which are listed by what was said in them last. */
export const webChats = (journal: WebJournal, live: Live, files: Files): OwnChats<WireFile> => ({
  journal: {
    messageAt: journal.messageAt,
    async append(chat, key, entry) {
      const seq = await journal.append(chat, key, entry);
      if (entry.type === 'message') await journal.touch(chat, entry.text);
      return seq;
    },
  },
  live,
  chatId,
  maxText: maxTextLength,
  files: (message) => adoptAll(message, files),
});

export const newReactions = (journal: WebJournal): Reactions => ({
  async set(target, messageId, emoji, signal) {
    checkTarget({ chatId }, target, signal);
    await stored(journal.append(target.chatId, `reaction:${randomUUID()}`, { type: 'reaction', id: messageId, emoji }));
  },
});

export const newNames = (journal: WebJournal): ChatNames => ({
  async set(target, name, signal) {
    checkTarget({ chatId }, target, signal);
    await stored(journal.append(target.chatId, `name:${randomUUID()}`, { type: 'name', name }));
    await stored(journal.rename(target.chatId, name));
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
