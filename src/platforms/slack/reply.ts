import { PlatformError } from '../../core/errors.ts';
import { brokenCall } from './errors.ts';
import type { SlackOptions } from './options.ts';
import type { Sending } from './send.ts';

const facts = { method: 'response_url', once: true, scope: 'chat' } as const;

/** Where Slack takes answers to slash commands. */
const isSlacks = (url: URL, root: URL): boolean => url.origin === root.origin || (url.protocol === 'https:' && url.hostname === 'hooks.slack.com');

/** Answers a slash command at the address that came with it. */
export const newReply =
  (options: Pick<SlackOptions, 'base_url' | 'request_timeout_seconds'>): Sending['reply'] =>
  async (url, message, signal) => {
    if (!URL.canParse(url) || !isSlacks(new URL(url), new URL(options.base_url))) throw new PlatformError('rejected', 'response_url: not an address of Slack');
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(options.request_timeout_seconds * 1000)]);
      const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(message), signal: within, redirect: 'error' });
      await response.arrayBuffer();
      if (response.status >= 500) throw new PlatformError('unknown_outcome', `response_url: HTTP ${response.status}`);
      if (response.status === 429) throw new PlatformError('rate_limited', 'response_url: too many answers', { scope: 'chat', retryAfterMs: 1000 });
      if (!response.ok) throw new PlatformError('rejected', `response_url: HTTP ${response.status}`);
    } catch (error) {
      throw brokenCall(error, facts, signal);
    }
  };
