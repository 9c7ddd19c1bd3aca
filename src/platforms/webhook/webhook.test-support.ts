import { newChains } from '../../lib/chains.ts';
import { manualClock } from '../../lib/clock.ts';
import type { ManualClock } from '../../lib/clock.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { openAccountData } from '../../../test/support/account-data.ts';
import { newInbox } from '../conformance-bench.ts';
import type { BenchInbox } from '../conformance-bench.ts';
import type { AccountData } from '../contract.ts';
import { openAnswers } from './answers.ts';
import type { Answers } from './answers.ts';
import { openCoalescedCalls } from './coalesced-calls.ts';
import { openGithubComments } from './github-comments.ts';
import { newCallMemory } from './memory.ts';
import { webhookOptions } from './options.ts';
import type { Scheme } from './options.ts';
import { newRateLimit } from './rate.ts';
import { webhookRoutes } from './routes.ts';
import { signCall } from './sign.ts';

export const secret = 'it is a long secret';

/** A route that can be called, and what comes of that. */
export interface Door {
  readonly inbox: BenchInbox;
  readonly clock: ManualClock;
  readonly answers: Answers;
  readonly stop: AbortController;
  readonly lines: readonly string[];
  request(path: string, init: RequestInit, env?: object): Promise<Response>;
}

interface Given {
  readonly data?: AccountData;
  readonly clock?: ManualClock;
  readonly inbox?: BenchInbox;
  /** Whether nothing is received. */
  readonly away?: () => boolean;
}

/** The route `r` with these options. */
export const open = (route: Readonly<Record<string, unknown>>, { data = openAccountData(':memory:'), clock = manualClock(), inbox = newInbox(), away = () => false }: Given = {}): Door => {
  const options = webhookOptions.parse({ routes: { r: { secret, ...route } }, github: { token: 'ghp_token' }, max_body_bytes: 1024 });
  const { log, lines } = capturingLogger();
  const answers = openAnswers(data);
  const stop = new AbortController();
  const comments = openGithubComments(options.github, data, () => clock.now());
  const routes = webhookRoutes({ account: 'webhook', options, answers, memory: newCallMemory(data), comments, coalesced: openCoalescedCalls(data), order: newChains(), mayCall: newRateLimit(), clock, log, receiving: () => (away() ? undefined : { inbox, signal: stop.signal }) });
  return { inbox, clock, answers, stop, lines, request: async (path, init, env) => routes.request(path, init, env) };
};

let calls = 0;

export interface Sent {
  readonly scheme?: Scheme;
  readonly payload?: unknown;
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly atMs?: number;
}

/** A signed call, each under an id of its own. */
export const send = (door: Door, { scheme = 'standard', payload = { n: 1 }, id = `call-${(calls += 1)}`, headers = {}, atMs }: Sent = {}): Promise<Response> => {
  const body = JSON.stringify(payload);
  return door.request('/r', { method: 'POST', body, headers: { 'content-type': 'application/json', ...signCall({ scheme, secret, id, nowMs: atMs ?? door.clock.now(), body }), ...headers } });
};

/** The status, and the word for it in the body. */
export const statusOf = async (response: Promise<Response>): Promise<readonly unknown[]> => {
  const answer = await response;
  const { status } = (await answer.json()) as { status?: string };
  return [answer.status, status];
};
