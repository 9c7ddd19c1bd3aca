import { PlatformError } from '../../core/errors.ts';
import { brokenCall, refusal } from './errors.ts';
import type { CallFacts } from './errors.ts';
import type { SlackOptions } from './options.ts';
import { parseJson, record } from './wire.ts';
import type { Json } from './wire.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** Calls to the Web API with one token. Every failure is a `PlatformError`; nothing is tried twice. */
export interface SlackApi {
  /** A call that may be made again without harm. */
  repeatable(method: string, args: Arguments, signal: AbortSignal, scope?: CallFacts['scope']): Promise<Json>;
  /** A call whose effect people see: a lost answer is `unknown_outcome`. */
  once(method: string, args: Arguments, signal: AbortSignal): Promise<Json>;
  /** Bytes to an address that `files.getUploadURLExternal` gave; without effect until the upload is completed. */
  upload(url: string, bytes: Blob, signal: AbortSignal): Promise<void>;
  /** A file of the workspace, with its body unread. */
  download(url: string, signal: AbortSignal): Promise<Response>;
}

/** Form fields are what every method of Slack takes; what is no text goes as JSON. */
const formOf = (args: Arguments): URLSearchParams => {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) if (value !== undefined) form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return form;
};

const retryAfterMs = (response: Response): number | undefined => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
};

const lost = (facts: CallFacts, reason: string): PlatformError => new PlatformError(facts.once ? 'unknown_outcome' : 'unavailable', `${facts.method}: ${reason}`);

/** What the token may do, with commas between; an answer has it under the same name. */
export const scopesHeader = 'x-oauth-scopes';

const readAnswer = async (response: Response, facts: CallFacts): Promise<Json> => {
  const body = await response.text();
  const answer = record(parseJson(body));
  if (response.status === 429) throw refusal({ ...answer, error: 'ratelimited' }, facts, retryAfterMs(response));
  if (typeof answer?.['ok'] !== 'boolean') throw lost(facts, `HTTP ${response.status} without an answer of Slack`);
  if (answer['ok']) return { ...answer, [scopesHeader]: response.headers.get(scopesHeader) ?? undefined };
  // A limit may also be told in the body.
  throw refusal(answer, facts, retryAfterMs(response));
};

/** Slack's own hosts, and whatever stands in for them; the token goes nowhere else. */
const mayCarryToken = (url: URL, root: URL): boolean => url.origin === root.origin || (url.protocol === 'https:' && (url.hostname === 'slack.com' || url.hostname.endsWith('.slack.com')));

export const openApi = (options: Pick<SlackOptions, 'base_url' | 'request_timeout_seconds'>, token: string): SlackApi => {
  const root = options.base_url.replace(/\/+$/, '');
  const timeoutMs = options.request_timeout_seconds * 1000;
  const authorization = `Bearer ${token}`;

  const request = async (facts: CallFacts, signal: AbortSignal, send: (within: AbortSignal) => Promise<Json>): Promise<Json> => {
    if (signal.aborted) throw new PlatformError('aborted', 'aborted');
    try {
      return await send(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    } catch (error) {
      throw brokenCall(error, facts, signal);
    }
  };

  const call = (facts: CallFacts, args: Arguments, signal: AbortSignal): Promise<Json> =>
    request(facts, signal, async (within) => readAnswer(await fetch(`${root}/${facts.method}`, { method: 'POST', headers: { authorization }, body: formOf(args), signal: within, redirect: 'error' }), facts));

  return {
    repeatable: (method, args, signal, scope = 'account') => call({ method, once: false, scope }, args, signal),
    once: (method, args, signal) => call({ method, once: true, scope: 'chat' }, args, signal),
    async upload(url, bytes, signal) {
      const facts: CallFacts = { method: 'upload', once: false, scope: 'chat' };
      await request(facts, signal, async (within) => {
        const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: bytes, signal: within, redirect: 'error' });
        await response.arrayBuffer();
        if (response.status === 413) throw new PlatformError('too_large', 'upload: the file is too large for Slack');
        if (response.status === 429) throw refusal({ error: 'ratelimited' }, facts, retryAfterMs(response));
        if (!response.ok) throw new PlatformError(response.status >= 500 ? 'unavailable' : 'rejected', `upload: HTTP ${response.status}`);
        return {};
      });
    },
    async download(url, signal) {
      const facts: CallFacts = { method: 'download', once: false, scope: 'account' };
      if (!URL.canParse(url) || !mayCarryToken(new URL(url), new URL(root))) throw new PlatformError('unsupported', 'download: the file is not kept by Slack');
      if (signal.aborted) throw new PlatformError('aborted', 'aborted');
      try {
        return await fetch(url, { headers: { authorization }, signal, redirect: 'manual' });
      } catch (error) {
        throw brokenCall(error, facts, signal);
      }
    },
  };
};
