import { PlatformError } from '../../core/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { CommandMenu, Directory, Edits, Identity, ListedChannel, Reactions, Threads, Typing } from '../contract.ts';
import { clampEntries, menuName } from '../menu-names.ts';
import { channelOf, channelOfMessage, requireMessage } from './address.ts';
import { madeId } from './api.ts';
import type { DiscordApi } from './api.ts';
import { unlessCode } from './errors.ts';
import { allowedMentions, componentsOf, written } from './message-body.ts';
import type { DiscordOptions } from './options.ts';
import { interactionAnchor } from './parse-other.ts';
import { readPlace } from './places.ts';
import type { Places } from './places.ts';
import { threadName } from './threads-below.ts';
import type { ThreadsBelow } from './threads-below.ts';
import { channelTypes, isForumType, isThreadType, list, readUser, record, snowflake, text } from './wire.ts';

export const identify = async (api: DiscordApi, signal: AbortSignal): Promise<Identity> => {
  const raw = await api.call({ method: 'GET', route: '/users/@me' }, signal);
  const me = readUser(raw);
  if (me === undefined) throw new PlatformError('unavailable', 'GET /users/@me: the answer is not a user');
  const handle = text(record(raw)?.['username']);
  return { id: me.id, name: me.name ?? me.id, ...(handle !== undefined && { handle }) };
};

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

/** Discord shows it for ten seconds. */
export const newTyping = (api: DiscordApi, threadsBelow: ThreadsBelow): Typing => ({
  everyMs: 8000,
  async show(target, signal) {
    const channel = channelOf(target);
    if (target.chatType === 'thread') await threadsBelow.ensure(channel, signal);
    await api.call({ method: 'POST', route: '/channels/{channel}/typing', ids: { channel } }, signal);
  },
});

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

const archiveMinutes = 1440;

/** Asks for a thread by itself, then for one that hangs on a message of ours; forums have nothing but posts. */
export const newThreads = (api: DiscordApi, places: Places, log: Logger): Threads => {
  const create = async (channel: string, body: object, signal: AbortSignal): Promise<string> => madeId(await api.call({ method: 'POST', route: '/channels/{channel}/threads', ids: { channel }, body, once: true }, signal));
  const createBelow = async (channel: string, name: string, signal: AbortSignal): Promise<string> => {
    const seed = madeId(await api.call({ method: 'POST', route: '/channels/{channel}/messages', ids: { channel }, body: { content: `🧵 ${name}`, allowed_mentions: { parse: [] } }, once: true }, signal));
    return madeId(await api.call({ method: 'POST', route: '/channels/{channel}/messages/{message}/threads', ids: { channel, message: seed }, body: { name, auto_archive_duration: archiveMinutes }, once: true }, signal));
  };
  const open = async (channel: string, type: number | undefined, name: string, signal: AbortSignal): Promise<string> => {
    const common = { name, auto_archive_duration: archiveMinutes };
    if (isForumType(type)) return create(channel, { ...common, message: { content: name, allowed_mentions: { parse: [] } } }, signal);
    try {
      return await create(channel, { ...common, type: type === channelTypes.announcement ? channelTypes.announcementThread : channelTypes.publicThread }, signal);
    } catch (error) {
      if (!(error instanceof PlatformError) || (error.code !== 'forbidden' && error.code !== 'rejected')) throw error;
      return createBelow(channel, name, signal);
    }
  };
  return {
    async open(chat, wanted, signal) {
      if (chat.chatType === 'dm') return undefined;
      const place = await places.find(channelOf(chat), signal);
      const above = isThreadType(place?.type) ? place?.parentId : channelOf(chat);
      if (above === undefined) return undefined;
      const type = isThreadType(place?.type) ? (await places.find(above, signal))?.type : place?.type;
      try {
        const threadId = await open(above, type, threadName(wanted), signal);
        return { account: chat.account, chatId: threadId, chatType: 'thread', threadId, ...(chat.scopeId !== undefined && { scopeId: chat.scopeId }) };
      } catch (error) {
        if (!(error instanceof PlatformError) || !['unsupported', 'rejected', 'forbidden'].includes(error.code)) throw error;
        log.info({ chatId: chat.chatId, reason: error.message }, 'discord.thread.refused');
        return undefined;
      }
    },
  };
};

const listable: ReadonlyMap<number, ListedChannel['type']> = new Map([
  [channelTypes.text, 'group'],
  [channelTypes.announcement, 'channel'],
  [channelTypes.forum, 'channel'],
  [channelTypes.media, 'channel'],
]);

/** Text channels and forums of every server, and the threads that are open there. */
export const newDirectory = (api: DiscordApi): Directory => {
  const channelsOf = async (guild: { readonly id: string; readonly name?: string | undefined }, signal: AbortSignal): Promise<readonly ListedChannel[]> => {
    const scope = { scopeId: guild.id, ...(guild.name !== undefined && { scopeName: guild.name }) };
    const channels = list(await api.call({ method: 'GET', route: '/guilds/{guild}/channels', ids: { guild: guild.id } }, signal)).flatMap((channel) => readPlace(channel, guild.id) ?? []);
    const threads = list(record(await api.call({ method: 'GET', route: '/guilds/{guild}/threads/active', ids: { guild: guild.id } }, signal))?.['threads']).flatMap((thread) => readPlace(thread, guild.id) ?? []);
    const named = (name: string | undefined, id: string): string => name?.replace(/^#+/, '').trim() || id;
    return [
      ...channels.flatMap(({ id, type, name }): ListedChannel[] => {
        const shown = listable.get(type);
        return shown === undefined ? [] : [{ id, name: named(name, id), type: shown, ...scope }];
      }),
      ...threads.map(({ id, name }): ListedChannel => ({ id, name: named(name, id), type: 'thread', threadId: id, ...scope })),
    ];
  };
  return {
    async list(signal) {
      const guilds = list(await api.call({ method: 'GET', route: '/users/@me/guilds' }, signal));
      const listed: ListedChannel[] = [];
      for (const guild of guilds) {
        const id = snowflake(record(guild)?.['id']);
        if (id !== undefined) listed.push(...(await channelsOf({ id, name: text(record(guild)?.['name']) }, signal)));
      }
      return listed;
    },
  };
};

const mostCommands = 100;
const longestDescription = 100;
const stringOption = 3;

type Commands = Parameters<CommandMenu['publish']>[0];

/** Commands as Discord's menu shows them; whatever is written behind one comes as a single text. */
export const menuCommands = (commands: Commands): readonly { readonly name: string; readonly description: string }[] =>
  clampEntries(commands.map((command) => ({ ...command, name: menuName(command.name) })))
    .slice(0, mostCommands)
    .map(({ name, description }) => ({ name, description: description.toWellFormed().slice(0, longestDescription).toWellFormed() || name }));

const argument = { type: stringOption, name: 'text', description: 'What to say to it', required: false };

const described = (value: unknown): string => {
  const command = record(value);
  return JSON.stringify([command?.['name'], command?.['description'], list(command?.['options']).length]);
};

/** Published only when something has changed: Discord counts how often a bot does that. */
export const newMenu = (api: DiscordApi): CommandMenu => ({
  async publish(commands, signal) {
    const application = madeId(await api.call({ method: 'GET', route: '/applications/@me' }, signal));
    const route = '/applications/{application}/commands';
    const wanted = menuCommands(commands).map((command) => ({ ...command, type: 1, options: [argument] }));
    const there = list(await api.call({ method: 'GET', route, ids: { application } }, signal));
    const same = there.length === wanted.length && new Set([...there, ...wanted].map(described)).size === wanted.length;
    if (!same) await api.call({ method: 'PUT', route, ids: { application }, body: wanted }, signal);
  },
});
