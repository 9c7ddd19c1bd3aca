import type { Reactions } from '../contract.ts';
import { channelOfMessage, requireMessage } from './address.ts';
import type { DiscordApi } from './api.ts';
import { unlessCode } from './errors.ts';
import { interactionAnchor } from './parse-other.ts';
import type { Places } from './places.ts';
import { list, record, snowflake, text } from './wire.ts';

const ownReactions = (message: unknown): readonly string[] =>
  list(record(message)?.['reactions']).flatMap((item) => {
    const reaction = record(item);
    const emoji = record(reaction?.['emoji']);
    const name = text(emoji?.['name']);
    if (reaction?.['me'] !== true || name === undefined) return [];
    const id = snowflake(emoji?.['id']);
    return [id === undefined ? name : `${name}:${id}`];
  });

export const newReactions = (api: DiscordApi, places: Places): Reactions => ({
  async set(target, messageId, emoji, signal) {
    // A command from the menu is no message that could bear one.
    if (messageId.startsWith(interactionAnchor)) return;
    const message = requireMessage(messageId);
    const ids = { channel: await channelOfMessage(places, target, message, signal), message };
    const there = ownReactions(await api.call({ method: 'GET', route: '/channels/{channel}/messages/{message}', ids }, signal));
    const route = '/channels/{channel}/messages/{message}/reactions/{emoji}/@me';
    if (emoji !== null && !there.includes(emoji)) await api.call({ method: 'PUT', route, ids: { ...ids, emoji } }, signal);
    for (const old of there.filter((each) => each !== emoji)) await api.call({ method: 'DELETE', route, ids: { ...ids, emoji: old } }, signal).catch(unlessCode('not_found', 'unsupported'));
  },
});
