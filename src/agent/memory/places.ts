import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Session } from '../../store/sessions/sessions.ts';
import type { TurnPlace } from '../contract.ts';
import type { MemoryTarget } from './entries.ts';
import type { MemoryFile } from './memory-file.ts';
import type { MemoryOptions } from './options.ts';
import type { MemorySession } from './provider.ts';

/** The conversation, as memory sees it: whose it is by the store's word, and who reads along by where it takes place now. */
export const memorySessionOf = (session: Pick<Session, 'id' | 'agent' | 'userId'>, place: Pick<TurnPlace, 'platform' | 'target' | 'sender'>): MemorySession => ({
  sessionId: session.id,
  agent: session.agent,
  platform: place.platform,
  account: place.target.account,
  ...(session.userId !== null && { userId: session.userId }),
  ...(session.userId !== null && place.sender?.id === session.userId && place.sender.name !== undefined && { userName: place.sender.name }),
  isPrivate: session.userId !== null && place.target.chatType === 'dm',
});

/** A file name that says whose it is and that no other person has. */
const fileNameOf = (account: string, userId: string): string => {
  const readable = `${account}-${userId}`.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60);
  return `${readable}-${createHash('sha256').update(JSON.stringify([account, userId])).digest('hex').slice(0, 12)}.md`;
};

export interface MemoryPlaces {
  /** The agent's own folder. */
  readonly home: string;
  readonly options: MemoryOptions;
  /** Whether USER.md is about this person; about everybody when left out. Others have a profile of their own. */
  isOwner?(person: { readonly account: string; readonly userId: string }): boolean;
}

/** Where the memories of a kind lie for a conversation; undefined where that kind is not kept. Where several people share a conversation, nobody is "the user". */
export const memoryFileFor = (places: MemoryPlaces, target: MemoryTarget, { account, userId }: Pick<MemorySession, 'account' | 'userId'>): MemoryFile | undefined => {
  const { home, options } = places;
  const folder = join(home, 'memories');
  if (target === 'memory') return options.memory_enabled ? { path: join(folder, 'MEMORY.md'), limitChars: options.memory_char_limit } : undefined;
  if (!options.user_profile_enabled || userId === undefined) return undefined;
  const isApart = options.user_profile_per_person || places.isOwner?.({ account, userId }) === false;
  return { path: isApart ? join(folder, 'users', fileNameOf(account, userId)) : join(folder, 'USER.md'), limitChars: options.user_char_limit };
};
