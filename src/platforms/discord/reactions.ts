import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
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

/** Discord takes one reaction in a quarter of a second, and changing one is two. */
const shortPauseMs = 1000;

/** Timers and clocks may differ by a moment. */
const slackMs = 10;

const spaced = async (clock: Clock, signal: AbortSignal, call: () => Promise<unknown>): Promise<void> => {
  try {
    await call();
  } catch (error) {
    const pauseMs = error instanceof PlatformError && error.code === 'rate_limited' ? error.facts.retryAfterMs : undefined;
    if (pauseMs === undefined || pauseMs > shortPauseMs) throw error;
    await clock.sleep(pauseMs + slackMs, signal);
    await call();
  }
};

export const newReactions = (api: DiscordApi, places: Places, clock: Clock): Reactions => ({
  async set(target, messageId, emoji, signal) {
    // A command from the menu is no message that could bear one.
    if (messageId.startsWith(interactionAnchor)) return;
    const message = requireMessage(messageId);
    const ids = { channel: await channelOfMessage(places, target, message, signal), message };
    const there = ownReactions(await api.call({ method: 'GET', route: '/channels/{channel}/messages/{message}', ids }, signal));
    const route = '/channels/{channel}/messages/{message}/reactions/{emoji}/@me';
    if (emoji !== null && !there.includes(emoji)) await spaced(clock, signal, () => api.call({ method: 'PUT', route, ids: { ...ids, emoji } }, signal));
    for (const old of there.filter((each) => each !== emoji)) await spaced(clock, signal, () => api.call({ method: 'DELETE', route, ids: { ...ids, emoji: old } }, signal)).catch(unlessCode('not_found', 'unsupported'));
  },
});
