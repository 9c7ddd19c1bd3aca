import { PlatformError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import { chatsLike } from '../../core/target.ts';
import type { ReadChat } from '../../core/target.ts';
import { readerOf } from './private-reply.ts';
import { record, records, text, timestamp } from './wire.ts';
import type { Workspace, Workspaces } from './workspaces.ts';

/** Where a message goes. */
export interface Address {
  readonly workspace: Workspace;
  readonly channel: string;
  readonly threadTs?: string;
  /** The only one who sees it. */
  readonly reader?: string;
}

export type FindAddress = (target: Target, signal: AbortSignal) => Promise<Address>;

/** How people write Slack's chats: ids, a person as in a message, or `@name`. */
export const readSlackChat: ReadChat = (ref) => {
  const user = /^<@([UW][A-Z0-9]+)(?:\|[^>]*)?>$/.exec(ref)?.[1];
  if (user !== undefined) return { chatId: `user:${user}` };
  if (/^@[\w.-]+$/.test(ref)) return { chatId: `user_name:${ref.slice(1)}` };
  return chatsLike(/^(?:[CDGUW][A-Z0-9]{6,}|[CDGUW]\d[A-Za-z0-9]{5,}|user(?:_name)?:[\w.-]+)$/)(ref);
};

const mostPages = 20;

/** The id of a person by the name that others write. */
const findPerson = async ({ api }: Workspace, name: string, signal: AbortSignal): Promise<string> => {
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await api.repeatable('users.list', { limit: 200, cursor }, signal);
    const found = records(answer['members']).find((member) => member['deleted'] !== true && [member['name'], record(member['profile'])?.['display_name']].includes(name));
    const id = text(found?.['id']);
    if (id !== undefined) return id;
    cursor = text(record(answer['response_metadata'])?.['next_cursor']);
    if (cursor === undefined) break;
  }
  throw new PlatformError('chat_gone', 'nobody in the workspace has that name');
};

const openDirect = async (workspace: Workspace, userId: string, signal: AbortSignal): Promise<string> => {
  const answer = await workspace.api.repeatable('conversations.open', { users: userId }, signal, 'chat');
  const channel = text(record(answer['channel'])?.['id']);
  if (channel === undefined) throw new PlatformError('unavailable', 'conversations.open: the answer has no channel');
  return channel;
};

const person = /^(?:user:)?([UW][A-Z0-9]+)$/;
const mostRemembered = 1000;

export const newAddresses = (workspaces: Workspaces): FindAddress => {
  const directs = new Map<string, string>();
  const channelOf = async (workspace: Workspace, chatId: string, signal: AbortSignal): Promise<string> => {
    const isNamed = chatId.startsWith('user_name:');
    if (!isNamed && !person.test(chatId)) return chatId;
    const key = `${workspace.teamId}:${chatId}`;
    const known = directs.get(key);
    if (known !== undefined) return known;
    const userId = isNamed ? await findPerson(workspace, chatId.slice('user_name:'.length), signal) : (person.exec(chatId)?.[1] ?? chatId);
    const channel = await openDirect(workspace, userId, signal);
    if (directs.size >= mostRemembered) directs.clear();
    directs.set(key, channel);
    return channel;
  };
  return async (target, signal) => {
    const workspace = await workspaces.of(target, signal);
    const channel = await channelOf(workspace, target.chatId, signal);
    const reader = readerOf(target);
    if (reader !== undefined) return { workspace, channel, reader };
    if (target.threadId === undefined) return { workspace, channel };
    const threadTs = timestamp(target.threadId);
    if (threadTs === undefined) throw new PlatformError('not_found', 'the thread id is not one of Slack', { missing: 'thread' });
    return { workspace, channel, threadTs };
  };
};
