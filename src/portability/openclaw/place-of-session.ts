import type { ChatType, Target } from '../../core/message.ts';
import { isShared, sessionKey } from '../../core/session-key.ts';
import type { SessionSharing } from '../../core/session-key.ts';
import type { Binding } from '../../store/sessions/sessions.ts';
import { wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';
import { accountName, bareId, channels } from './channels.ts';

/** Where a conversation took place, in our words. */
export interface SessionPlace {
  readonly account: string;
  readonly chatType: ChatType;
  readonly userId: string | undefined;
  /** The chat, where its id is known here. */
  readonly target: Target | undefined;
}

/** Everything that is not of a channel was said to the owner's own assistant. */
const ownersOwn: SessionPlace = { account: 'local', chatType: 'dm', userId: 'owner', target: undefined };

const chatTypes: Readonly<Record<string, ChatType>> = { direct: 'dm', dm: 'dm', group: 'group', channel: 'channel', room: 'channel' };

/** `telegram:direct:7`, `telegram:work:direct:7`, `direct:7`, `telegram:group:-100:topic:5`. */
const keyShape = /^(?:([a-z][a-z0-9-]*):)?(?:([a-z0-9_-]+):)?(direct|dm|group|channel|room):(.+?)(?::(?:topic|thread):(.+))?$/i;

const restOf = (key: string): string => key.replace(/^agent:[^:]+:/, '');

/** Runs of jobs, helpers of an agent and the like: no person took part in them. */
export const isInternal = (key: string): boolean => /^(?:cron|hook|subagent|acp|node|explicit|dreaming|boot)(?::|$)|:subagent:|:heartbeat$/.test(restOf(key));

interface Route {
  readonly channel: string;
  readonly account: string | undefined;
  readonly chatType: ChatType;
  readonly id: string;
  readonly threadId: string | undefined;
}

const routeOf = (key: string, entry: Plain | undefined): Route | undefined => {
  const channel = wordAt(entry, 'deliveryContext', 'channel') ?? wordAt(entry, 'lastChannel') ?? wordAt(entry, 'channel') ?? wordAt(entry, 'origin', 'provider');
  const account = wordAt(entry, 'deliveryContext', 'accountId') ?? wordAt(entry, 'lastAccountId') ?? wordAt(entry, 'origin', 'accountId');
  const [, first, second, type, id, threadId] = keyShape.exec(restOf(key)) ?? [];
  if (type !== undefined && id !== undefined) {
    const named = first ?? channel;
    return named === undefined ? undefined : { channel: named, account: second ?? account, chatType: chatTypes[type] ?? 'group', id: bareId(named, id), threadId };
  }
  const to = wordAt(entry, 'deliveryContext', 'to') ?? wordAt(entry, 'lastTo') ?? wordAt(entry, 'origin', 'to');
  return channel === undefined || to === undefined ? undefined : { channel, account, chatType: 'dm', id: bareId(channel, to), threadId: undefined };
};

/** Where a conversation with this key took place. */
export const placeOfSession = (key: string | undefined, entry: Plain | undefined): SessionPlace => {
  const route = key === undefined ? undefined : routeOf(key, entry);
  const facts = route === undefined ? undefined : channels[route.channel];
  if (route === undefined || facts === undefined) return ownersOwn;
  const { chatType, id, threadId } = route;
  const account = accountName(route.channel, route.account);
  const isPerson = chatType === 'dm' && facts.person.test(id);
  if (chatType === 'dm' && !isPerson) return { ...ownersOwn, account };
  return { account, chatType, userId: isPerson ? id : undefined, target: facts.chatIsPerson ? { account, chatId: id, chatType, ...(threadId !== undefined && { threadId }) } : undefined };
};

/** The place that goes on with a conversation; undefined where members of a chat have one each here, or where nobody can say. */
export const bindingOf = ({ account, target }: SessionPlace, agent: string, sharing: SessionSharing): Omit<Binding, 'sessionId'> | undefined => {
  if (target === undefined) return undefined;
  const chat = { id: target.chatId, type: target.chatType, ...(target.threadId !== undefined && { threadId: target.threadId }) };
  if (chat.type !== 'dm' && !isShared(chat, sharing)) return undefined;
  return { sessionKey: sessionKey({ agent, account, chat }, sharing), target };
};
