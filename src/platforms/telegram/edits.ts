import type { Edits } from '../contract.ts';
import { requireMessage } from './address.ts';
import type { TelegramApi } from './api.ts';
import { alreadyDeleted, notModified, unlessRefusedWith } from './errors.ts';
import { plainText } from './format.ts';
import type { TelegramOptions } from './options.ts';
import { keyboardOf, written } from './send.ts';

/** Half a sentence rarely has closed markup, so edits on the way are plain and only the last one is formatted. */
export const newEdits = (api: TelegramApi, options: TelegramOptions): Edits => {
  const preview = (final: boolean) => (options.disable_link_previews || !final ? { link_preview_options: { is_disabled: true } } : {});
  return {
    async edit(messageId, message, final, signal) {
      const content = final ? written(message) : { text: message.plain === true ? message.text : plainText(message.text) };
      const edit = { chat_id: message.target.chatId, message_id: requireMessage(messageId), ...content, ...preview(final), ...keyboardOf(message.choices) };
      await api.repeatable('chat', signal, (raw, s) => raw.editMessageText(edit, s).then(() => undefined, unlessRefusedWith(notModified)));
    },
    async remove(target, messageId, signal) {
      const message = { chat_id: target.chatId, message_id: requireMessage(messageId) };
      await api.repeatable('chat', signal, (raw, s) => raw.deleteMessage(message, s).then(() => undefined, unlessRefusedWith(alreadyDeleted)));
    },
  };
};
