import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { refusal, toPlatformError } from './errors.ts';
import type { CallFacts } from './errors.ts';
import { newMultipart } from './multipart.ts';
import type { FilePart } from './multipart.ts';
import { apiRoot } from './options.ts';
import type { DiscordOptions } from './options.ts';
import { newRateLimits } from './rate-limits.ts';
import { newTransport, TransportError } from './transport.ts';
import type { Transport } from './transport.ts';
import { record } from './wire.ts';
import type { Json } from './wire.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Call {
  readonly method: Method;
  /** With names for what varies: `/channels/{channel}/messages`. The first one names whom a limit covers. */
  readonly route: string;
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly files?: readonly FilePart[];
  /** A repeat would be seen twice: a lost answer is `unknown_outcome`. */
  readonly once?: boolean;
  /** The address itself is the credential. */
  readonly anonymous?: boolean;
}

/** Calls to Discord's HTTP API. Every failure is a `PlatformError`; nothing is queued or tried twice. */
export interface DiscordApi {
  readonly root: string;
  readonly transport: Transport;
  /** The JSON of the answer; undefined when it has none. */
  call(call: Call, signal: AbortSignal): Promise<unknown>;
  /** A file, with its body unread. */
  download(url: string, signal: AbortSignal): Promise<IncomingMessage>;
}

const userAgent = 'DiscordBot (https://github.com/hermes-gateway, 1.0)';

const pathOf = ({ route, ids = {}, query }: Call): string => {
  const path = route.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(ids[name] ?? ''));
  return query === undefined ? path : `${path}?${new URLSearchParams(query)}`;
};

const majorOf = ({ route, ids = {} }: Call): string => {
  const name = /\{(\w+)\}/.exec(route)?.[1];
  return (name === undefined ? undefined : ids[name]) ?? '';
};

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

const readAnswer = async (response: IncomingMessage): Promise<{ readonly json: unknown; readonly empty: boolean }> => {
  const body = await readText(response).catch((cause: unknown) => {
    throw new TransportError('sent', 'the answer was cut', cause instanceof Error ? cause.name : undefined);
  });
  return { json: parse(body), empty: body === '' };
};

const secondsHeader = (response: IncomingMessage): number | undefined => {
  const seconds = Number(response.headers['retry-after']);
  return Number.isFinite(seconds) ? seconds : undefined;
};

/** A 429. Without the words of Discord itself it comes from the wall in front of it, and covers everything. */
const limited = (facts: CallFacts, response: IncomingMessage, answer: Json | undefined): PlatformError => {
  const said = Number(answer?.['retry_after']);
  const seconds = Number.isFinite(said) ? said : (secondsHeader(response) ?? 5);
  const global = answer?.['global'] === true || response.headers['x-ratelimit-scope'] === 'global' || !Number.isFinite(said);
  return new PlatformError('rate_limited', `${facts.name}: limited for ${seconds} s`, { retryAfterMs: Math.ceil(seconds * 1000), scope: global ? 'account' : 'chat' });
};

const contentOf = ({ body, files }: Call) => {
  if (files !== undefined && files.length > 0) return newMultipart(body, files);
  return body === undefined ? { headers: {} } : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
};

export const openApi = (options: DiscordOptions, clock: Clock): DiscordApi => {
  const root = apiRoot(options);
  const transport = newTransport({ silenceMs: options.request_timeout_seconds * 1000, proxyUrl: options.proxy_url });
  const limits = newRateLimits(() => clock.now());

  const make = async (call: Call, facts: CallFacts, signal: AbortSignal): Promise<unknown> => {
    const { method } = call;
    const authorization = call.anonymous === true ? {} : { authorization: `Bot ${options.token}` };
    const { headers, ...content } = contentOf(call);
    const response = await transport.open(`${root}${pathOf(call)}`, { method, headers: { ...authorization, ...headers, 'user-agent': userAgent }, signal, ...content });
    const status = response.statusCode ?? 0;
    const { json, empty } = await readAnswer(response);
    limits.learn(facts.name, majorOf(call), response.headers);
    if (status === 429) {
      const error = limited(facts, response, record(json));
      if (error.facts.scope === 'account') limits.close(error.facts.retryAfterMs ?? 0);
      throw error;
    }
    if (status < 200 || status >= 300) throw refusal(facts, status, record(json));
    if (json === undefined && !empty) throw new TransportError('answered', `HTTP ${status} with a body that is not JSON`);
    return json;
  };

  return {
    root,
    transport,
    async call(call, signal) {
      if (signal.aborted) throw new PlatformError('aborted', 'aborted');
      const facts: CallFacts = { name: `${call.method} ${call.route}`, once: call.once === true };
      const closed = limits.check(facts.name, majorOf(call));
      if (closed !== undefined) throw new PlatformError('rate_limited', `${facts.name}: limited`, closed);
      try {
        return await make(call, facts, signal);
      } catch (error) {
        throw toPlatformError(error, facts, signal);
      }
    },
    async download(url, signal) {
      const facts: CallFacts = { name: 'download', once: false };
      try {
        return await transport.open(url, { method: 'GET', signal });
      } catch (error) {
        throw toPlatformError(error, facts, signal);
      }
    },
  };
};

/** The id of something that Discord says it has made. */
export const madeId = (answer: unknown): string => {
  const id = record(answer)?.['id'];
  if (typeof id !== 'string') throw new PlatformError('unknown_outcome', 'Discord answered without an id');
  return id;
};
