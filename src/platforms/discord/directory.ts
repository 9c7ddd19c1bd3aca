import type { Directory, ListedChannel } from '../contract.ts';
import type { DiscordApi } from './api.ts';
import { readPlace } from './places.ts';
import { channelTypes, list, record, snowflake, text } from './wire.ts';

const pageSize = 200;

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
  /** Every server that we are in, page by page. */
  const guilds = async (signal: AbortSignal, after = '0'): Promise<readonly { readonly id: string; readonly name?: string | undefined }[]> => {
    const page = list(await api.call({ method: 'GET', route: '/users/@me/guilds', query: { after, limit: String(pageSize) } }, signal)).flatMap((guild) => {
      const id = snowflake(record(guild)?.['id']);
      return id === undefined ? [] : [{ id, name: text(record(guild)?.['name']) }];
    });
    const last = page.at(-1);
    return last === undefined || page.length < pageSize ? page : [...page, ...(await guilds(signal, last.id))];
  };
  return {
    async list(signal) {
      const listed: ListedChannel[] = [];
      for (const guild of await guilds(signal)) listed.push(...(await channelsOf(guild, signal)));
      return listed;
    },
  };
};
