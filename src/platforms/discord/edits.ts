import type { Edits } from '../contract.ts';
import { channelOf, requireMessage } from './address.ts';
import type { DiscordApi } from './api.ts';
import { unlessCode } from './errors.ts';
import { allowedMentions, componentsOf, written } from './message-body.ts';
import type { DiscordOptions } from './options.ts';

export const newEdits = (api: DiscordApi, options: DiscordOptions): Edits => ({
  async edit(messageId, message, _final, signal) {
    const ids = { channel: channelOf(message.target), message: requireMessage(messageId) };
    const body = { content: written(message), allowed_mentions: { ...allowedMentions(options), replied_user: false }, components: componentsOf(message.choices) };
    await api.call({ method: 'PATCH', route: '/channels/{channel}/messages/{message}', ids, body }, signal);
  },
  async remove(target, messageId, signal) {
    const ids = { channel: channelOf(target), message: requireMessage(messageId) };
    await api.call({ method: 'DELETE', route: '/channels/{channel}/messages/{message}', ids }, signal).catch(unlessCode('not_found'));
  },
});
