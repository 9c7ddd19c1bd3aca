import { PlatformError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import type { Identity } from '../contract.ts';
import { openApi, scopesHeader } from './api.ts';
import type { SlackApi } from './api.ts';
import { tokensOf } from './options.ts';
import type { SlackOptions } from './options.ts';
import { text } from './wire.ts';

/** A workspace that the app is installed in, and who we are there. */
export interface Workspace {
  readonly api: SlackApi;
  readonly teamId: string;
  readonly teamName: string;
  readonly userId: string;
  readonly botId: string | undefined;
  readonly userName: string;
  /** Rights that the app was not given; empty where Slack does not tell. */
  readonly missingScopes: readonly string[];
}

export interface Workspaces {
  /** All of them, in the order of their tokens. Asks Slack again each time. */
  check(signal: AbortSignal): Promise<readonly Workspace[]>;
  all(signal: AbortSignal): Promise<readonly Workspace[]>;
  /** The one that a target is in. */
  of(target: Pick<Target, 'scopeId' | 'chatId'>, signal: AbortSignal): Promise<Workspace>;
}

/** What the manifest in our documentation asks for, and why the app needs it stands there. */
export const wantedScopes: readonly string[] = [
  'channels:history', 'channels:read', 'chat:write', 'commands', 'files:read', 'files:write', 'groups:history', 'groups:read', 'im:history', 'im:read', 'im:write', 'metadata.message:read', 'mpim:history', 'mpim:read',
  'reactions:read', 'reactions:write', 'users:read',
];

const missingIn = (granted: string | undefined): readonly string[] => {
  const scopes = new Set(granted?.split(',').map((scope) => scope.trim()));
  return granted === undefined ? [] : wantedScopes.filter((scope) => !scopes.has(scope));
};

const introduce = async (api: SlackApi, signal: AbortSignal): Promise<Workspace> => {
  const answer = await api.repeatable('auth.test', {}, signal);
  const teamId = text(answer['team_id']);
  const userId = text(answer['user_id']);
  if (teamId === undefined || userId === undefined) throw new PlatformError('unavailable', 'auth.test: the answer names no workspace and user');
  return { api, teamId, userId, teamName: text(answer['team']) ?? teamId, botId: text(answer['bot_id']), userName: text(answer['user']) ?? userId, missingScopes: missingIn(text(answer[scopesHeader])) };
};

const knows = async ({ api }: Workspace, chatId: string, signal: AbortSignal): Promise<boolean> => {
  try {
    await api.repeatable('conversations.info', { channel: chatId }, signal);
    return true;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'chat_gone') return false;
    throw error;
  }
};

/** Chats whose workspace was asked for; ids of channels are never given twice. */
const mostRemembered = 1000;

export const newWorkspaces = (options: SlackOptions): Workspaces => {
  const apis = tokensOf(options).map((token) => openApi(options, token));
  const homes = new Map<string, Workspace>();
  let known: readonly Workspace[] | undefined;
  const check = async (signal: AbortSignal): Promise<readonly Workspace[]> => {
    const found: Workspace[] = [];
    for (const api of apis) found.push(await introduce(api, signal));
    known = found;
    return found;
  };
  const all = async (signal: AbortSignal): Promise<readonly Workspace[]> => known ?? check(signal);
  const search = async (chatId: string, among: readonly Workspace[], signal: AbortSignal): Promise<Workspace> => {
    for (const workspace of among) {
      if (!(await knows(workspace, chatId, signal))) continue;
      if (homes.size >= mostRemembered) homes.clear();
      homes.set(chatId, workspace);
      return workspace;
    }
    throw new PlatformError('chat_gone', 'no workspace of this app has that channel');
  };
  return {
    check,
    all,
    async of({ scopeId, chatId }, signal) {
      const among = await all(signal);
      const [first, second] = among;
      if (first !== undefined && second === undefined) return first;
      const named = scopeId === undefined ? homes.get(chatId) : among.find(({ teamId }) => teamId === scopeId);
      if (named !== undefined) return named;
      if (scopeId !== undefined) throw new PlatformError('chat_gone', 'the app is not installed in that workspace, or its token is missing');
      return search(chatId, among, signal);
    },
  };
};

/** The account is who it is in its first workspace, however many join later. */
export const identityOf = (workspaces: readonly Workspace[]): Identity => {
  const [first] = workspaces;
  if (first === undefined) throw new PlatformError('bad_credential', 'there is no bot token');
  return { id: `${first.teamId}:${first.userId}`, name: `${first.userName} in ${workspaces.map(({ teamName }) => teamName).join(', ')}`, handle: first.userName };
};
