import { createHash } from 'node:crypto';
import { z } from 'zod';
import { PlatformError } from '../../core/errors.ts';
import type { OutboundMessage, SendReceipt } from '../../core/message.ts';
import type { AccountData } from '../contract.ts';
import type { Issue } from './github-issue.ts';
import type { WebhookOptions } from './options.ts';
import { valueAt } from './template.ts';

/** Comments on issues and pull requests of GitHub, each shown once. */
export interface GithubComments {
  /** A call that was let in speaks of the issue: comments there are wanted from now on. */
  allow(chatId: string, nowMs: number): Promise<void>;
  post(message: OutboundMessage, issue: Issue, signal: AbortSignal): Promise<SendReceipt>;
  /** Forgets issues of which nothing was heard since. */
  forget(beforeMs: number): Promise<void>;
}

/** GitHub takes this many characters. */
const maxCommentLength = 65_536;
const patienceMs = 30_000;
const pageSize = 100;
const mostPages = 10;
const prefix = 'issue:';

const markName = 'hermes-gateway';

/** Nobody sees it, and by it a comment is found again. */
const markOf = (key: string): string => `<!-- ${markName}:${createHash('sha256').update(key).digest('hex').slice(0, 32)} -->`;

const ownMark = new RegExp(`<!-- ${markName}:[0-9a-f]{32} -->\\s*$`);

/** Whether a payload is about a comment that we have written: to answer it could go on for ever. */
export const isOwnComment = (payload: unknown): boolean => {
  const body = valueAt(payload, 'comment.body');
  return typeof body === 'string' && ownMark.test(body);
};

const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
};

const bodyOf = ({ key, text, plain }: OutboundMessage): string => `${plain === true ? fenced(text.toWellFormed()) : text.toWellFormed()}\n\n${markOf(key)}`;

const comment = z.looseObject({ id: z.number(), body: z.string().catch('') });
const refusal = z.object({ message: z.string().catch('') });

const seconds = (value: string | null): number => (value !== null && /^\d{1,10}$/.test(value) ? Number(value) : 0);

/** How long GitHub wants us to wait, if that is what it is about (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api). */
const limitedMs = ({ status, headers }: Response, said: string, nowMs: number): number | undefined => {
  if (status !== 403 && status !== 429) return undefined;
  const after = seconds(headers.get('retry-after'));
  if (after > 0) return after * 1000;
  if (headers.get('x-ratelimit-remaining') === '0') return Math.max(1000, seconds(headers.get('x-ratelimit-reset')) * 1000 - nowMs);
  return status === 429 || /rate limit/i.test(said) ? 60_000 : undefined;
};

/** The limit is the token's, but other answers of the account do not need it: only this chat waits. */
const refused = (response: Response, body: unknown, call: { readonly isPost: boolean; readonly nowMs: number }): PlatformError => {
  const { status } = response;
  const said = (refusal.safeParse(body).data?.message ?? '').replaceAll(/\s+/g, ' ').slice(0, 200) || `status ${status}`;
  const waitMs = limitedMs(response, said, call.nowMs);
  if (waitMs !== undefined) return new PlatformError('rate_limited', `GitHub: ${said}`, { scope: 'chat', retryAfterMs: waitMs });
  if (status >= 500) return new PlatformError(call.isPost ? 'unknown_outcome' : 'unavailable', `GitHub: ${said}`);
  if (status === 401) return new PlatformError('forbidden', `GitHub does not take the token, see platforms.webhook.github.token: ${said}`);
  if (status === 403) return new PlatformError('forbidden', `GitHub does not let the token write comments there: ${said}`);
  if (status === 404 || status === 410) return new PlatformError('chat_gone', `GitHub has no such issue, or does not show it to the token: ${said}`);
  return new PlatformError('rejected', `GitHub: ${said}`);
};

/** Nothing has left when there was nobody to take it. */
const unsent: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

const lost = (error: unknown, isPost: boolean): PlatformError => {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return new PlatformError(isPost && !unsent.has(code) ? 'unknown_outcome' : 'unavailable', 'the connection to GitHub was lost', { cause: error });
};

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const openGithubComments = (options: WebhookOptions['github'], data: AccountData, now: () => number): GithubComments => {
  const call = async (path: string, body: string | undefined, signal: AbortSignal): Promise<unknown> => {
    const isPost = body !== undefined;
    const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28', 'user-agent': 'hermes-gateway', authorization: `Bearer ${options.token ?? ''}`, ...(isPost && { 'content-type': 'application/json' }) };
    try {
      const response = await fetch(`${options.api_url.replace(/\/+$/, '')}${path}`, { method: isPost ? 'POST' : 'GET', headers, ...(isPost && { body }), redirect: 'error', signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]) });
      const answer = readJson(await response.text());
      if (!response.ok) throw refused(response, answer, { isPost, nowMs: now() });
      return answer;
    } catch (error) {
      throw error instanceof PlatformError ? error : lost(error, isPost);
    }
  };

  /** Looks through the newest pages of what was said there since the day before. */
  const findShown = async (path: string, mark: string, signal: AbortSignal): Promise<number | undefined> => {
    const since = new Date(now() - 86_400_000).toISOString();
    for (let page = 1; page <= mostPages; page += 1) {
      const listed = z.array(comment).safeParse(await call(`${path}?per_page=${pageSize}&page=${page}&since=${since}`, undefined, signal));
      if (!listed.success) throw new PlatformError('unavailable', 'GitHub answered something that is no list of comments');
      const found = listed.data.find(({ body }) => body.includes(mark));
      if (found !== undefined || listed.data.length < pageSize) return found?.id;
    }
    return undefined;
  };

  return {
    allow: (chatId, nowMs) => data.set(`${prefix}${chatId}`, String(nowMs)),
    async post(message, { repo, number }, signal) {
      if (signal.aborted) throw new PlatformError('aborted', 'stopped before it was sent', { cause: signal.reason });
      if (options.token === undefined) throw new PlatformError('forbidden', 'there is no token for GitHub: set platforms.webhook.github.token');
      if ((await data.get(`${prefix}${message.target.chatId}`)) === undefined) throw new PlatformError('forbidden', 'no call has spoken of this issue');
      const body = bodyOf(message);
      if (body.length > maxCommentLength) throw new PlatformError('too_long', `a comment may have ${maxCommentLength} characters`);
      const path = `/repos/${repo}/issues/${number}/comments`;
      const shown = message.mayBeShown === true ? await findShown(path, markOf(message.key), signal) : undefined;
      if (shown !== undefined) return { messageIds: [String(shown)] };
      const written = comment.safeParse(await call(path, JSON.stringify({ body }), signal));
      if (!written.success) throw new PlatformError('unknown_outcome', 'GitHub answered something that is no comment');
      return { messageIds: [String(written.data.id)] };
    },
    async forget(beforeMs) {
      for (const { key, value } of await data.list(prefix)) if (Number(value) < beforeMs) await data.remove(key);
    },
  };
};
