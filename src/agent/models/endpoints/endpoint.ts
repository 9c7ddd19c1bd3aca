import { ConfigError, ModelError } from '../../../core/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { newRedactor } from '../../../lib/redact.ts';
import { beginAttempt } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { concessionFor } from '../wires/concessions.ts';
import type { Concession } from '../wires/concessions.ts';
import type { ReasoningEffort } from '../../../core/reasoning-effort.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from '../contract.ts';
import { post } from './http-post.ts';
import type { Posted } from './http-post.ts';
import { newKeyRing } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';
import type { DescribeImages } from '../media/describe-images.ts';
import { seesImages, thinksBeforeSpeaking } from '../facts/known-models.ts';
import { loadImages } from '../media/load-images.ts';
import { withCost } from '../facts/prices.ts';
import type { Prices } from '../facts/prices.ts';
import { quirksOf } from './providers.ts';
import type { Quirks } from './providers.ts';
import { parseJson, readAnswer, readText } from '../wires/read-answer.ts';
import { readErrorBody, refusalError } from './refusal.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Images, Wire, WireContext } from '../wires/wire.ts';
import { wires } from '../wires/wires.ts';

export type ImageInput = 'auto' | 'native' | 'text';

export interface EndpointOptions {
  /** For the log, and for people who are told that another one answers. */
  readonly name: string;
  readonly wire: Wire['name'];
  /** Up to and without the path of the wire format. */
  readonly baseUrl: string;
  /** Used one at a time; the next when one is refused, empty or limited. */
  readonly keys: readonly string[];
  /** Until the first event of an answer. */
  readonly requestTimeoutMs?: number;
  /** Between two events of an answer. */
  readonly stallTimeoutMs?: number;
  /** Images are read from here; without it they are only named. */
  readonly mediaFolder?: string;
  /** `auto` when left out: images go to models that are not known to be blind. `native`: to all. `text`: to none; they are described. */
  readonly imageInput?: ImageInput;
  /** Tells models that cannot look at images what those show. */
  readonly describeImages?: DescribeImages;
  readonly effort?: ReasoningEffort;
  readonly cacheTtl?: '5m' | '1h';
  readonly prices?: Prices;
  /** Costs nothing per token. */
  readonly local?: boolean;
}

export interface EndpointDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

interface Endpoint extends EndpointDeps {
  readonly options: EndpointOptions;
  readonly wire: Wire;
  readonly url: URL;
  readonly quirks: Quirks;
  readonly keys: KeyRing;
  /** What was found not to be taken, by model. */
  readonly conceded: Map<string, Set<Concession>>;
  readonly redact: (text: string) => string;
}

const maxErrorBytes = 64 * 1024;
const defaultRequestMs = 120_000;
const defaultStallMs = 90_000;
/** A model that thinks in silence is given the time. */
const thinkingMs = 600_000;
/** Each makes the request poorer; one that is still refused has another reason. */
const maxConcessions = 4;

interface Call {
  readonly key: string | undefined;
  readonly attempt: Attempt;
  /** How long the first piece of an answer may take. */
  readonly patienceMs: number;
}

interface Refused {
  readonly error: ModelError;
  readonly concession: Concession | undefined;
}

const readRefusal = async (endpoint: Endpoint, response: Posted, used: ReadonlySet<Concession>): Promise<Refused> => {
  // The status alone is an answer, also when the connection breaks before its explanation.
  const text = await readText(response.body, maxErrorBytes).then(
    (read) => read.text,
    () => '',
  );
  const { ok, value } = parseJson(text);
  const body = ok ? value : /^\s*</.test(text) ? '' : text;
  const waitMs = retryAfterMs(response.headers, endpoint.clock.now());
  const requestId = response.headers.get('x-request-id') ?? response.headers.get('request-id');
  const error = refusalError({
    status: response.status,
    body,
    redact: endpoint.redact,
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    ...(requestId !== null && { requestId }),
  });
  return { error, concession: concessionFor(response.status, readErrorBody(body), used) };
};

/** What a request holds that an endpoint may not take. */
const usedBy = (request: ModelRequest, context: WireContext): ReadonlySet<Concession> => {
  const used: Concession[] = ['stream', 'stream_options', 'encrypted_reasoning', 'effort', 'cache_control'];
  if (request.maxOutputTokens !== undefined) used.push('token_limit');
  if (context.images.size > 0) used.push('images');
  if (request.messages.some(({ toolCalls }) => (toolCalls ?? []).length > 0)) used.push('bare_calls', 'unsigned_calls');
  return new Set(used.filter((each) => !context.conceded.has(each)));
};

const noImages: Images = new Map();

/** Whether the model is shown images. One about which nothing is known is, until the endpoint refuses them. */
const looks = ({ options }: Endpoint, request: ModelRequest, conceded: ReadonlySet<Concession>): boolean => {
  if (conceded.has('images')) return false;
  if (options.imageInput === 'native') return true;
  return (options.imageInput !== 'text' || request.needsImages === true) && seesImages(request.model) !== false;
};

type Pictures = Pick<WireContext, 'images' | 'imageWords'>;

/** The images of a request, or what they show. How long it takes to describe them is not the server's silence. */
const picturesFor = async (endpoint: Endpoint, request: ModelRequest, call: Call): Promise<Pictures> => {
  const { options, log, clock } = endpoint;
  if (!request.messages.some((row) => row.attachments !== undefined)) return { images: noImages };
  const seeing = looks(endpoint, request, endpoint.conceded.get(request.model) ?? new Set());
  const images = seeing ? await loadImages(request.messages, { mediaFolder: options.mediaFolder, log }) : noImages;
  if (request.needsImages === true && images.size === 0) throw new ModelError('bad_request', `${request.model} cannot look at the image`);
  if (seeing || options.describeImages === undefined) return { images };
  call.attempt.deadline.set(Number.POSITIVE_INFINITY);
  const imageWords = await options.describeImages(request.messages, call.attempt.signal);
  call.attempt.deadline.set(clock.now() + call.patienceMs);
  return { images, imageWords };
};

const contextFor = async (endpoint: Endpoint, request: ModelRequest, call: Call): Promise<WireContext> => {
  const { options, wire, url, quirks } = endpoint;
  const conceded = endpoint.conceded.get(request.model) ?? new Set<Concession>();
  const effort = request.reasoningEffort ?? options.effort;
  return {
    ...(await picturesFor(endpoint, request, call)),
    ...(options.mediaFolder !== undefined && { mediaFolder: options.mediaFolder }),
    maker: `${wire.name}:${url.host}:${request.model}`,
    conceded,
    quirks,
    cacheTtl: options.cacheTtl ?? '5m',
    ...(effort !== undefined && { effort }),
  };
};

const concede = (endpoint: Endpoint, model: string, concession: Concession): void => {
  endpoint.log.info({ endpoint: endpoint.options.name, model, concession }, 'model.conceded');
  endpoint.conceded.set(model, new Set([...(endpoint.conceded.get(model) ?? []), concession]));
};

const headersFor = (endpoint: Endpoint, key: string | undefined, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  accept: 'text/event-stream, application/json',
  'user-agent': 'hermes-gateway',
  ...endpoint.wire.headers,
  ...more,
  ...(key !== undefined && endpoint.wire.authorize(key)),
});

/** Asks until the request is taken: what the endpoint turns out not to know is left out. */
const ask = async (endpoint: Endpoint, request: ModelRequest, call: Call): Promise<{ response: Posted; context: WireContext }> => {
  for (let conceded = 0; ; conceded += 1) {
    const context = await contextFor(endpoint, request, call);
    const { body, headers } = endpoint.wire.request(request, context);
    // An answer that is not streamed comes when all of it is written.
    if (context.conceded.has('stream')) call.attempt.deadline.set(endpoint.clock.now() + thinkingMs);
    const response = await post(endpoint.url, { headers: headersFor(endpoint, call.key, headers), body, signal: call.attempt.signal });
    if (response.ok) return { response, context };
    const { error, concession } = await readRefusal(endpoint, response, usedBy(request, context));
    if (concession === undefined || conceded === maxConcessions) throw error;
    concede(endpoint, request.model, concession);
  }
};

const priced = (endpoint: Endpoint, event: ModelEvent, asked: string): ModelEvent => {
  if (event.type !== 'finish') return event;
  const { prices, local } = endpoint.options;
  const options = { ...(prices !== undefined && { prices }), ...(local !== undefined && { local }) };
  const usage = withCost(event.usage, asked, options);
  // A router is asked by one name and answers by another.
  return { ...event, usage: usage.cost === undefined ? withCost(usage, event.model, options) : usage };
};

/** A key that failed rests; the error says whether another one is ready. */
const withKeys = (endpoint: Endpoint, key: string | undefined, error: ModelError): ModelError => {
  if (!endpoint.keys.rest(key, error)) return error;
  return new ModelError(error.code, error.message, { ...error.facts, freshKey: true });
};

async function* attemptCall(endpoint: Endpoint, request: ModelRequest, caller: AbortSignal): AsyncGenerator<ModelEvent> {
  const { options, clock, redact } = endpoint;
  if (caller.aborted) throw new ModelError('aborted', 'the call was aborted');
  const thinks = thinksBeforeSpeaking(request.model);
  const key = endpoint.keys.current();
  const patienceMs = options.requestTimeoutMs ?? (thinks ? thinkingMs : defaultRequestMs);
  const attempt = beginAttempt(clock, caller, patienceMs);
  let answering = false;
  try {
    const { response, context } = await ask(endpoint, request, { key, attempt, patienceMs });
    answering = true;
    const answer = endpoint.wire.answer({ model: request.model, maker: context.maker, failure: (error) => refusalError({ body: { error }, redact }) });
    const stallTimeoutMs = options.stallTimeoutMs ?? (thinks ? thinkingMs : defaultStallMs);
    for await (const event of readAnswer(response, { answer, attempt, clock, stallTimeoutMs })) yield priced(endpoint, event, request.model);
  } catch (error) {
    const failure = withKeys(endpoint, key, attempt.explain(error, answering));
    attempt.drop();
    throw failure;
  } finally {
    attempt.close();
  }
}

/** The address of something below the base address, whose query is kept. */
export const addressBelow = (baseUrl: string, path: string): URL => {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url;
};

/** An error about a header repeats it, key and all, so keys are judged here. */
const usableKeys = (keys: readonly string[]): readonly string[] => {
  const given = keys.filter((key) => key !== '');
  if (given.every((key) => /^[\x21-\x7e]+$/.test(key))) return given;
  throw new ConfigError('model.api_key contains characters that cannot be part of a key');
};

/** An endpoint over HTTP. It remembers which of its keys rest and what it was found not to take. */
export const newEndpoint = (options: EndpointOptions, deps: EndpointDeps): ModelProvider => {
  const keys = usableKeys(options.keys);
  const redactor = newRedactor();
  for (const key of keys) redactor.remember(key);
  const wire = wires[options.wire];
  const url = addressBelow(options.baseUrl, wire.path);
  const endpoint: Endpoint = {
    ...deps,
    options,
    wire,
    url,
    quirks: quirksOf(url.hostname),
    keys: newKeyRing(keys, deps.clock),
    conceded: new Map(),
    redact: (text) => redactor.redact(text),
  };
  return { name: options.name, stream: (request, signal) => attemptCall(endpoint, request, signal) };
};
