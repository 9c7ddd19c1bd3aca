import type { AccountName } from './ids.ts';
import type { Chat, ChatType, Sender } from './message.ts';

/** Where a message belongs: an `InboundEvent` and the agent that answers it fit as they are. */
export interface SessionPlace {
  /** Absent, `default` and `main` are one agent. */
  readonly agent?: string;
  readonly account: AccountName;
  readonly chat: Chat;
  readonly sender?: Pick<Sender, 'id' | 'altId'>;
}

/** Who shares a session outside direct messages. */
export interface SessionSharing {
  /** Members of a group have a session each (default true). */
  readonly groupSessionsPerUser?: boolean;
  /** Members of a thread have a session each (default false; needs `groupSessionsPerUser`). */
  readonly threadSessionsPerUser?: boolean;
}

export interface SessionKeyOptions extends SessionSharing {
  /** The platform's chat ids are unique only within a workspace, so the key carries its id. */
  readonly scopeInKey?: boolean;
  /** Folds the several ids of one person into one, where the platform has several. */
  readonly canonicalId?: (id: string) => string;
}

/** What a key says for certain. `rest` stays whole: scope, chat, thread and user may contain colons themselves. */
export interface ParsedSessionKey {
  readonly agent: string;
  readonly account: AccountName;
  readonly chatType: ChatType;
  readonly rest: string;
}

const mainAgent = 'main';

/** The only place that makes a session key: `agent:<agent>:<account>:<chat type>[:<scope>][:<chat>][:<thread>][:<user>]`. */
export const sessionKey = (place: SessionPlace, options: SessionKeyOptions = {}): string => {
  const { chat } = place;
  const agent = place.agent === 'default' ? mainAgent : place.agent || mainAgent;
  const type = chat.type !== 'dm' && !chat.threadId && chat.prospectiveThreadId ? 'thread' : chat.type;
  const scope = options.scopeInKey ? chat.scopeId : undefined;
  const ids = chat.type === 'dm' ? directIds(place, options) : sharedIds(place, options);
  return ['agent', agent, place.account, type, scope, ...ids].filter(Boolean).join(':');
};

const directIds = ({ chat, sender }: SessionPlace, { canonicalId = same }: SessionKeyOptions): readonly string[] => {
  const person = chat.id || participant(sender);
  return [person && canonicalId(person), chat.threadId ?? ''];
};

const sharedIds = ({ chat, sender }: SessionPlace, options: SessionKeyOptions): readonly string[] => {
  const { canonicalId = same } = options;
  const person = isShared(chat, options) ? '' : participant(sender);
  return [chat.id, threadOf(chat) ?? '', person && canonicalId(person)];
};

/** Whether several people of the chat speak in one session, so that the agent has to be told who is speaking. */
export const isShared = (chat: Chat, { groupSessionsPerUser = true, threadSessionsPerUser = false }: SessionSharing = {}): boolean =>
  chat.type !== 'dm' && (!groupSessionsPerUser || (threadOf(chat) !== undefined && !threadSessionsPerUser));

const threadOf = (chat: Chat): string | undefined => chat.threadId || chat.prospectiveThreadId || undefined;

const participant = (sender: SessionPlace['sender']): string => sender?.altId || sender?.id || '';

const same = (id: string): string => id;

const keyShape = /^agent:([^:]+):([^:]+):(dm|group|channel|thread)(?::(.+))?$/s;

/** Undefined for anything that `sessionKey` cannot have made. */
export const parseSessionKey = (key: string): ParsedSessionKey | undefined => {
  const [, agent, account, chatType, rest = ''] = keyShape.exec(key) ?? [];
  if (agent === undefined || account === undefined) return undefined;
  return { agent, account, chatType: chatType as ChatType, rest };
};

/** The key of the same place in the chat that has taken the place of another. Undefined for a key that does not name that one. */
export const keyInChat = (key: string, { from, to, scopeId }: { readonly from: string; readonly to: string; readonly scopeId?: string | undefined }): string | undefined => {
  const known = parseSessionKey(key);
  if (known === undefined) return undefined;
  const scope = scopeId !== undefined && known.rest.startsWith(`${scopeId}:`) ? `${scopeId}:` : '';
  const place = known.rest.slice(scope.length);
  if (place !== from && !place.startsWith(`${from}:`)) return undefined;
  return ['agent', known.agent, known.account, known.chatType, scope + to + place.slice(from.length)].join(':');
};

/** The key of the same place where another agent answers. Undefined for anything that `sessionKey` cannot have made. */
export const keyOfAgent = (key: string, agent: string): string | undefined => {
  const known = parseSessionKey(key);
  return known === undefined ? undefined : ['agent', agent, known.account, known.chatType, known.rest].filter(Boolean).join(':');
};
