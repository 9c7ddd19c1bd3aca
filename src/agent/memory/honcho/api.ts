import { z } from 'zod';
import { retryAfterMs } from '../../models/endpoints/retry-after.ts';
import type { HonchoOptions } from '../options.ts';
import { MemoryError } from '../provider.ts';
import type { MemoryErrorCode } from '../provider.ts';
import type { MessageWire, NewMessage, PeerContextWire, SessionContextWire } from './wire.ts';
import { chatWire, conclusionsWire, messagePageWire, messagesWire, peerCardWire, peerContextWire, sessionContextWire } from './wire.ts';

type Query = Readonly<Record<string, string | number | boolean>>;

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
}

/** Honcho's HTTP API, as far as we use it, in one workspace. Each call is one attempt; every failure is a `MemoryError`. */
export interface HonchoApi {
  /** Makes the workspace, the session and its peers if they are not there. */
  openSession(session: { readonly id: string; readonly peers: Readonly<Record<string, { readonly observe_me: boolean; readonly observe_others: boolean }>>; readonly metadata: Readonly<Record<string, string>> }, signal: AbortSignal): Promise<void>;
  describeSession(id: string, metadata: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;
  addMessages(sessionId: string, messages: readonly NewMessage[], signal: AbortSignal): Promise<void>;
  /** Messages of ours that carry the value in their metadata. */
  countMessages(sessionId: string, metadata: Readonly<Record<string, string>>, signal: AbortSignal): Promise<number>;
  searchSession(sessionId: string, query: string, signal: AbortSignal): Promise<readonly MessageWire[]>;
  sessionContext(sessionId: string, peer: string, query: string, signal: AbortSignal): Promise<SessionContextWire>;
  peerContext(peer: string, query: string, signal: AbortSignal): Promise<PeerContextWire>;
  peerCard(peer: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Asks Honcho's own model about a person, and waits for its answer. */
  ask(peer: string, question: { readonly query: string; readonly sessionId?: string }, signal: AbortSignal): Promise<string>;
  findConclusions(peer: string, query: string, signal: AbortSignal): Promise<readonly string[]>;
  addConclusion(peer: string, conclusion: { readonly content: string; readonly sessionId: string }, signal: AbortSignal): Promise<void>;
}

/** Fields that Honcho bounds; what is longer would be refused. */
const maxQueryChars = 2000;
const maxFound = 10;

const codeOf = (status: number): MemoryErrorCode => {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limited';
  return status === 408 || status === 409 || status === 425 || status >= 500 ? 'unavailable' : 'rejected';
};

const detailOf = (text: string): string => {
  const { detail } = z.object({ detail: z.string().optional() }).catch({}).parse(parsed(text));
  return (detail ?? text).replaceAll(/\s+/g, ' ').slice(0, 200).toWellFormed();
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const cut = (query: string): string => query.slice(0, maxQueryChars).toWellFormed();

const send = async (options: HonchoOptions, call: Call, signal: AbortSignal): Promise<unknown> => {
  const url = new URL(options.base_url.replace(/\/+$/, '') + call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, String(value));
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...(options.api_key !== undefined && { authorization: `Bearer ${options.api_key}` }) };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(options.timeout_ms)]);
  try {
    const response = await fetch(url, { method: call.method, headers, redirect: 'error', signal: limited, ...(call.body !== undefined && { body: JSON.stringify(call.body) }) });
    const text = await response.text();
    if (!response.ok) {
      const waitMs = retryAfterMs(response.headers, Date.now());
      throw new MemoryError(codeOf(response.status), `Honcho answered ${response.status}: ${detailOf(text)}`, waitMs === undefined ? {} : { retryAfterMs: waitMs });
    }
    return text === '' ? undefined : (parsed(text) ?? Promise.reject(new MemoryError('malformed', 'Honcho answered with something that is not JSON')));
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    throw new MemoryError('unavailable', signal.aborted ? 'the request was given up' : 'Honcho cannot be reached', { cause: error });
  }
};

const read = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new MemoryError('malformed', 'Honcho answered with something unexpected', { cause: result.error });
};

export const newHonchoApi = (options: HonchoOptions, workspace: string): HonchoApi => {
  const base = `/v3/workspaces/${workspace}`;
  const call = async <T>(schema: z.ZodType<T>, what: Call, signal: AbortSignal): Promise<T> => read(schema, await send(options, what, signal));
  return {
    async openSession({ id, peers, metadata }, signal) {
      await send(options, { method: 'POST', path: '/v3/workspaces', body: { id: workspace } }, signal);
      for (const peer of Object.keys(peers)) await send(options, { method: 'POST', path: `${base}/peers`, body: { id: peer } }, signal);
      await send(options, { method: 'POST', path: `${base}/sessions`, body: { id, metadata, peers } }, signal);
    },
    async describeSession(id, metadata, signal) {
      await send(options, { method: 'PUT', path: `${base}/sessions/${id}`, body: { metadata } }, signal);
    },
    async addMessages(sessionId, messages, signal) {
      await call(messagesWire, { method: 'POST', path: `${base}/sessions/${sessionId}/messages`, body: { messages } }, signal);
    },
    async countMessages(sessionId, metadata, signal) {
      return (await call(messagePageWire, { method: 'POST', path: `${base}/sessions/${sessionId}/messages/list`, query: { page: 1, size: 1 }, body: { filters: { metadata } } }, signal)).total;
    },
    searchSession: (sessionId, query, signal) => call(messagesWire, { method: 'POST', path: `${base}/sessions/${sessionId}/search`, body: { query: cut(query), limit: maxFound } }, signal),
    sessionContext: (sessionId, peer, query, signal) =>
      call(sessionContextWire, { method: 'GET', path: `${base}/sessions/${sessionId}/context`, query: { summary: true, tokens: 1000, peer_target: peer, search_query: cut(query), limit_to_session: true } }, signal),
    peerContext: (peer, query, signal) => call(peerContextWire, { method: 'GET', path: `${base}/peers/${peer}/context`, query: { search_query: cut(query), search_top_k: maxFound, max_conclusions: 25 } }, signal),
    async peerCard(peer, signal) {
      return (await call(peerCardWire, { method: 'GET', path: `${base}/peers/${peer}/card` }, signal)).peer_card ?? [];
    },
    async ask(peer, { query, sessionId }, signal) {
      const body = { query: cut(query), stream: false, reasoning_level: 'low', ...(sessionId !== undefined && { session_id: sessionId }) };
      return (await call(chatWire, { method: 'POST', path: `${base}/peers/${peer}/chat`, body }, signal)).content ?? '';
    },
    async findConclusions(peer, query, signal) {
      const body = { query: cut(query), top_k: maxFound, filters: { observer_id: peer, observed_id: peer } };
      return (await call(conclusionsWire, { method: 'POST', path: `${base}/conclusions/query`, body }, signal)).map((conclusion) => conclusion.content);
    },
    async addConclusion(peer, { content, sessionId }, signal) {
      await call(conclusionsWire, { method: 'POST', path: `${base}/conclusions`, body: { conclusions: [{ content, observer_id: peer, observed_id: peer, session_id: sessionId }] } }, signal);
    },
  };
};
