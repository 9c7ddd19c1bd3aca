import type { Place } from './places.ts';
import type { DiscordOptions } from './options.ts';
import { list, readUser, snowflakes } from './wire.ts';
import type { WireMessage } from './wire.ts';

export interface Addressed {
  /** Without our own mention where it only calls us. */
  readonly text: string;
  readonly mentioned: boolean;
  /** Others are mentioned and we are not. */
  readonly forOthers: boolean;
}

const removeAt = (text: string, at: number, length: number): string => {
  const before = text.slice(0, at);
  const after = text.slice(at + length);
  if (before.trim() === '') return after.replace(/^[\s,:]+/, '');
  return /\s$/.test(before) ? before + after.trimStart() : before + after;
};

/** Takes a single call off; of several, one may be what the sentence is about. Somebody who says nothing but our name has said that. */
const withoutCall = (text: string, calls: readonly RegExpMatchArray[]): string => {
  const [only, second] = calls;
  if (only === undefined || second !== undefined) return text;
  return removeAt(text, only.index ?? 0, only[0].length).trim() || text;
};

/**
 * Decides whom a text is for by the ids in it. That an answer to us pings us puts us on Discord's list of mentions without anybody having
 * written our name, so that list does not count.
 */
export const readAddress = (message: WireMessage, text: string, own: { readonly id: string; readonly roles: ReadonlySet<string> }): Addressed => {
  const calls = [...text.matchAll(/<@(!?|&)(\d+)>/g)].filter(([, kind, id = '']) => (kind === '&' ? own.roles.has(id) : id === own.id));
  const mentioned = calls.length > 0;
  const others = list(message.raw['mentions']).some((user) => readUser(user)?.id !== own.id) || snowflakes(message.raw['mention_roles']).length > 0;
  return { text: withoutCall(text, calls), mentioned, forOthers: !mentioned && others };
};

const inList = (ids: readonly string[], place: Pick<Place, 'id' | 'parentId'>): boolean => ids.includes(place.id) || (place.parentId !== undefined && ids.includes(place.parentId));

/** Why a channel is not read; undefined when it is. */
export const unread = (options: DiscordOptions, place: Pick<Place, 'id' | 'parentId'>): string | undefined => {
  if (options.allowed_channels.length > 0 && !inList(options.allowed_channels, place)) return 'channel not in allowed_channels';
  return inList(options.ignored_channels, place) ? 'channel in ignored_channels' : undefined;
};

export const isFree = (options: DiscordOptions, place: Pick<Place, 'id' | 'parentId'>): boolean => inList(options.free_response_channels, place);

export const mayOpenThread = (options: DiscordOptions, place: Pick<Place, 'id' | 'parentId'>): boolean => options.auto_thread && !inList(options.no_thread_channels, place) && !isFree(options, place);
