import { PlatformError } from '../../core/errors.ts';
import type { DiscordApi } from './api.ts';
import { unlessCode } from './errors.ts';
import { integer, isThreadType, list, readMember, record, snowflake, text } from './wire.ts';
import type { Json } from './wire.ts';

/** A channel or thread as Discord describes it. */
export interface Place {
  readonly id: string;
  readonly type: number;
  readonly name?: string;
  readonly topic?: string;
  readonly guildId?: string;
  readonly parentId?: string;
  readonly lastMessageId?: string;
  /** Of a thread: we take part in it. */
  readonly joined: boolean;
}

/** What we know about servers and channels: told by the gateway, asked for when it was not. */
export interface Places {
  /** Learns from an event. */
  observe(name: string, data: Json): void;
  known(channelId: string): Place | undefined;
  /** Asks Discord where nothing is known; undefined when it does not say. */
  find(channelId: string, signal: AbortSignal): Promise<Place | undefined>;
  /** We have spoken in the thread. */
  join(threadId: string): void;
  guildName(guildId: string): string | undefined;
  /** A server that we are in and that fits; undefined when there is none, or none among the first that Discord names. */
  anyGuild(signal: AbortSignal, fits: (guildId: string) => boolean): Promise<string | undefined>;
  /** Our own roles in a server. */
  ownRoles(guildId: string, ownId: string, signal: AbortSignal): Promise<ReadonlySet<string>>;
}

const mostPlaces = 20_000;

export const readPlace = (value: unknown, guild?: string): Place | undefined => {
  const raw = record(value);
  const id = snowflake(raw?.['id']);
  const type = integer(raw?.['type']);
  if (raw === undefined || id === undefined || type === undefined) return undefined;
  const name = text(raw['name']);
  const topic = text(raw['topic']);
  const guildId = snowflake(raw['guild_id']) ?? guild;
  const parentId = snowflake(raw['parent_id']);
  const lastMessageId = snowflake(raw['last_message_id']);
  return {
    id,
    type,
    joined: record(raw['member']) !== undefined,
    ...(name !== undefined && { name }),
    ...(topic !== undefined && topic !== '' && { topic }),
    ...(guildId !== undefined && { guildId }),
    ...(parentId !== undefined && { parentId }),
    ...(lastMessageId !== undefined && { lastMessageId }),
  };
};

interface Guild {
  readonly name?: string;
  readonly ownRoles?: ReadonlySet<string>;
}

/** Refusals after which there is nothing more to learn about a channel. */
const unknowable = unlessCode('chat_gone', 'not_found', 'forbidden', 'rejected');

class KnownPlaces implements Places {
  readonly #api: DiscordApi;
  readonly #places = new Map<string, Place>();
  readonly #guilds = new Map<string, Guild>();

  constructor(api: DiscordApi) {
    this.#api = api;
  }

  observe(name: string, data: Json): void {
    switch (name) {
      case 'GUILD_CREATE':
        return this.#guildCame(data);
      case 'GUILD_UPDATE':
        return this.#keepGuild(data);
      case 'GUILD_DELETE':
        if (data['unavailable'] !== true) this.#guilds.delete(snowflake(data['id']) ?? '');
        return undefined;
      case 'CHANNEL_CREATE':
      case 'CHANNEL_UPDATE':
      case 'THREAD_CREATE':
      case 'THREAD_UPDATE':
        return this.#keep(data);
      case 'CHANNEL_DELETE':
      case 'THREAD_DELETE':
        return void this.#places.delete(snowflake(data['id']) ?? '');
      case 'THREAD_LIST_SYNC':
        for (const thread of list(data['threads'])) this.#keep(thread, snowflake(data['guild_id']));
        return undefined;
      case 'THREAD_MEMBER_UPDATE':
        return this.join(snowflake(data['id']) ?? '');
      default:
        return undefined;
    }
  }

  known(channelId: string): Place | undefined {
    return this.#places.get(channelId);
  }

  async find(channelId: string, signal: AbortSignal): Promise<Place | undefined> {
    const known = this.#places.get(channelId);
    if (known !== undefined) return known;
    const answer = await this.#api.call({ method: 'GET', route: '/channels/{channel}', ids: { channel: channelId } }, signal).catch(unknowable);
    const place = readPlace(answer);
    if (place === undefined) return undefined;
    const joined = place.joined || (isThreadType(place.type) && (await this.#takesPart(channelId, signal)));
    this.#set({ ...place, joined });
    return { ...place, joined };
  }

  join(threadId: string): void {
    const place = this.#places.get(threadId);
    if (place !== undefined && !place.joined) this.#set({ ...place, joined: true });
  }

  guildName(guildId: string): string | undefined {
    return this.#guilds.get(guildId)?.name;
  }

  async anyGuild(signal: AbortSignal, fits: (guildId: string) => boolean): Promise<string | undefined> {
    const known = this.#guilds.keys().find(fits);
    if (known !== undefined) return known;
    const named = list(await this.#api.call({ method: 'GET', route: '/users/@me/guilds', query: { limit: '200' } }, signal));
    return named.flatMap((guild) => snowflake(record(guild)?.['id']) ?? []).find(fits);
  }

  async ownRoles(guildId: string, ownId: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const known = this.#guilds.get(guildId);
    if (known?.ownRoles !== undefined) return known.ownRoles;
    const member = await this.#api.call({ method: 'GET', route: '/guilds/{guild}/members/{user}', ids: { guild: guildId, user: ownId } }, signal).catch(unknowable);
    const ownRoles = new Set(readMember(member).roles);
    this.#guilds.set(guildId, { ...known, ownRoles });
    return ownRoles;
  }

  async #takesPart(threadId: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#api.call({ method: 'GET', route: '/channels/{channel}/thread-members/@me', ids: { channel: threadId } }, signal);
      return true;
    } catch (error) {
      if (error instanceof PlatformError && (error.code === 'not_found' || error.code === 'forbidden' || error.code === 'chat_gone')) return false;
      throw error;
    }
  }

  #guildCame(data: Json): void {
    const guildId = snowflake(data['id']);
    if (guildId === undefined || data['unavailable'] === true) return;
    for (const channel of [...list(data['channels']), ...list(data['threads'])]) this.#keep(channel, guildId);
    this.#keepGuild(data);
  }

  /** Our roles may have changed with it; they are asked for again when somebody mentions one. */
  #keepGuild(data: Json): void {
    const id = snowflake(data['id']);
    const name = text(data['name']);
    if (id !== undefined) this.#guilds.set(id, name === undefined ? {} : { name });
  }

  #keep(value: unknown, guildId?: string): void {
    const place = readPlace(value, guildId);
    if (place === undefined) return;
    this.#set({ ...place, joined: place.joined || this.#places.get(place.id)?.joined === true });
  }

  #set(place: Place): void {
    this.#places.delete(place.id);
    const oldest = this.#places.size >= mostPlaces ? this.#places.keys().next().value : undefined;
    if (oldest !== undefined) this.#places.delete(oldest);
    this.#places.set(place.id, place);
  }
}

export const newPlaces = (api: DiscordApi): Places => new KnownPlaces(api);
