import type { Directory, ListedChannel } from '../contract.ts';
import type { DiscordApi } from './api.ts';
import { readPlace } from './places.ts';
import { channelTypes, list, record, snowflake, text } from './wire.ts';

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
