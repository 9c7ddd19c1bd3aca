import type { AccountName } from '../../core/ids.ts';
import type { Chat, InboundEvent } from '../../core/message.ts';
import type { SlackOptions } from './options.ts';
import { isDirect, record, records, text } from './wire.ts';
import type { Json } from './wire.ts';
import type { Workspace } from './workspaces.ts';

/** An event, or the reason why there is none. */
export type Parsed = InboundEvent | { readonly skip: string };

export const skip = (reason: string): Parsed => ({ skip: reason });

/** What reading a payload depends on. */
export interface Reading {
  readonly account: AccountName;
  readonly options: SlackOptions;
  readonly workspaces: readonly Workspace[];
  /** Whether the agent has been called into a thread before. */
  takesPart(thread: { readonly teamId: string; readonly channelId: string; readonly threadTs: string }): boolean;
  /** Whether a word is the name of a command. */
  isCommand(word: string): boolean;
}

/** Where something happened: in which channel of which workspace. */
export interface Spot {
  readonly workspace: Workspace;
  readonly channelId: string;
}

/** A payload names the installation it is for; in channels shared with others its team may be theirs. */
const teamsOf = (payload: Json): readonly unknown[] => [
  ...records(payload['authorizations']).flatMap((authorization) => [authorization['team_id'], authorization['enterprise_id']]),
  payload['context_team_id'],
  payload['team_id'],
  record(payload['team'])?.['id'],
  payload['enterprise_id'],
];

/** Undefined for a workspace of which we have no token. */
export const workspaceOf = ({ workspaces }: Reading, payload: Json): Workspace | undefined => {
  for (const team of teamsOf(payload)) {
    const found = text(team) === undefined ? undefined : workspaces.find(({ teamId }) => teamId === team);
    if (found !== undefined) return found;
  }
  const own = new Set(records(payload['authorizations']).map((authorization) => authorization['user_id']));
  return workspaces.find(({ userId }) => own.has(userId));
};

/** Why a channel is not read, if so. Direct chats always are. */
export const closedTo = ({ options }: Reading, channelId: string): string | undefined => {
  if (isDirect(channelId)) return undefined;
  if (options.ignored_channels.includes(channelId)) return 'ignored channel';
  return options.allowed_channels.length > 0 && !options.allowed_channels.includes(channelId) ? 'not an allowed channel' : undefined;
};

/**
 * The chat of a message. In a channel every message is the beginning of a thread, if answers go into threads: what is said below it belongs to the
 * same conversation.
 */
export const chatAt = ({ options }: Reading, { workspace, channelId }: Spot, message: { readonly ts: string; readonly threadTs?: string | undefined }): Chat => {
  const type = isDirect(channelId) ? 'dm' : 'group';
  const threadId = message.threadTs ?? (type === 'group' && options.reply_in_thread ? message.ts : undefined);
  return { id: channelId, type, scopeId: workspace.teamId, ...(threadId !== undefined && { threadId }) };
};

/** The name of the thread in which only one person sees what a slash command was answered. */
export const privatePrefix = 'slash:';
