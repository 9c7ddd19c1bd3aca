import { ConfigError, ModelError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { newRedactor } from '../../lib/redact.ts';
import { newDeadline } from '../deadline.ts';
import type { Deadline } from '../deadline.ts';
import { newChatAnswer } from './chat-answer.ts';
import type { ChatAnswer } from './chat-answer.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from './contract.ts';
import { post } from './http-post.ts';
import type { Posted } from './http-post.ts';
import { loadImages } from './load-images.ts';
import { networkError, refusalError } from './openai-errors.ts';
import { chatRequest, tokenLimitField } from './openai-request.ts';
import type { Images, TokenLimitField } from './openai-request.ts';
import { retryAfterMs } from './retry-after.ts';
import { readSse, SseTooLarge } from './sse.ts';
import type { SseEvent } from './sse.ts';

export interface OpenAiOptions {
  /** Up to and without `/chat/completions`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Until the first event of an answer. */
  readonly requestTimeoutMs: number;
  /** Between two events of an answer. */
  readonly stallTimeoutMs: number;
  /** Images are read from here; without it they are only named. */
  readonly mediaFolder?: string;
}

interface Endpoint {
  readonly options: OpenAiOptions;
  readonly url: URL;
  readonly headers: Headers;
  readonly tokenLimit: TokenLimitField;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redact: (text: string) => string;
}

const maxEventChars = 4 * 1024 * 1024;
const maxAnswerBytes = 32 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** The tokens are counted after the reason to stop was given; a server that never says `[DONE]` is not waited for longer. */
const usageWaitMs = 2000;
/** The end of the body follows `[DONE]` at once; having read it keeps the connection for the next call. */
const endWaitMs = 250;

const dropped = new Error('the rest of the answer is of no use');

/** One attempt: its signal ends with the caller's or when the server is silent for too long. */
interface Attempt {
  readonly signal: AbortSignal;
  readonly deadline: Deadline;
  /** What a failure means, whoever caused it. */
  explain(error: unknown, answering: boolean): ModelError;
  /** Gives the connection up, with whatever it would still have brought. */
  drop(): void;
  close(): void;
}

const beginAttempt = (clock: Clock, caller: AbortSignal, firstMs: number): Attempt => {
  const controller = new AbortController();
  let late = false;
  const deadline = newDeadline(clock, () => {
    late = true;
    controller.abort(new Error('the model was silent for too long'));
  });
  const onAbort = (): void => controller.abort(caller.reason);
  caller.addEventListener('abort', onAbort, { once: true });
  deadline.set(clock.now() + firstMs);
  return {
    signal: controller.signal,
    deadline,
    explain(error, answering) {
      if (caller.aborted) return new ModelError('aborted', 'the call was aborted');
      if (error instanceof ModelError) return error;
      if (late) return new ModelError('timeout', 'the model was silent for too long');
      if (error instanceof SseTooLarge) return new ModelError('malformed', error.message, { cause: error });
      return networkError(error, answering);
    },
    drop: () => controller.abort(dropped),
    close() {
      caller.removeEventListener('abort', onAbort);
      deadline.clear();
    },
  };
};

const parseJson = (text: string): { readonly ok: boolean; readonly value: unknown } => {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, value: undefined };
    throw error;
  }
};

const readText = async (body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<{ readonly text: string; readonly whole: boolean }> => {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return { text: pieces.join(''), whole: false };
    pieces.push(decoder.decode(chunk, { stream: true }));
  }
  return { text: pieces.join('') + decoder.decode(), whole: true };
};

const refused = async (endpoint: Endpoint, response: Posted): Promise<ModelError> => {
  // The status alone is an answer, also when the connection breaks before its explanation.
  const text = await readText(response.body, maxErrorBytes).then(
    (read) => read.text,
    () => '',
  );
  const { ok, value } = parseJson(text);
  const html = /^\s*</.test(text);
  const waitMs = retryAfterMs(response.headers, endpoint.clock.now());
  const requestId = response.headers.get('x-request-id');
  return refusalError({
    status: response.status,
    body: ok ? value : html ? '' : text,
    redact: endpoint.redact,
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    ...(requestId !== null && { requestId }),
  });
};

const takeEvent = (answer: ChatAnswer, event: SseEvent, last: boolean): 'done' | 'more' => {
  const data = event.data.trim();
  if (data === '[DONE]') return 'done';
  if (data === '') return 'more';
  const { ok, value } = parseJson(data);
  // A body that was cut leaves half an event behind; that is no fault of the half.
  if (!ok && last) return 'more';
  if (!ok && event.name !== 'error') throw new ModelError('malformed', 'the model sent a chunk that is not JSON');
  answer.take(event.name === 'error' ? { error: ok ? value : data } : value);
  return 'more';
};

/** Reads the events of `body` into `answer` and hands on what they say. */
async function* streamed(
  { clock, options }: Endpoint,
  attempt: Attempt,
  { body, answer }: { readonly body: ReadableStream<Uint8Array>; readonly answer: ChatAnswer },
): AsyncGenerator<ModelEvent> {
  let done = false;
  let finishedAtMs: number | undefined;
  try {
    for await (const batch of readSse(body, { maxEventChars, maxBytes: maxAnswerBytes, signal: attempt.signal })) {
      for (const event of batch.events) done = takeEvent(answer, event, batch.last) === 'done' || done;
      const events = answer.drain();
      if (events.length > 0) {
        // How long the reader of the answer takes is not the server's silence.
        attempt.deadline.set(Number.POSITIVE_INFINITY);
        yield* events;
      }
      if (done) attempt.deadline.set(clock.now() + endWaitMs);
      else if (!answer.finished) attempt.deadline.set(clock.now() + options.stallTimeoutMs);
      else attempt.deadline.set((finishedAtMs ??= clock.now()) + usageWaitMs);
    }
  } catch (error) {
    const failure = attempt.explain(error, true);
    // What breaks after the answer is complete does not make it less so.
    if (failure.code === 'aborted' || !(answer.finished || done)) throw failure;
  }
  if (!answer.begun) throw new ModelError('malformed', 'the model answered without any content');
  if (!done && !answer.finished) throw new ModelError('cut_stream', 'the answer ended in the middle');
}

const takeWhole = async (body: ReadableStream<Uint8Array> | null, answer: ChatAnswer): Promise<void> => {
  const { text, whole } = await readText(body, maxAnswerBytes);
  const { ok, value } = parseJson(text);
  if (!whole || !ok) throw new ModelError('malformed', text === '' ? 'the model answered with an empty body' : 'the model answered with something that is not JSON');
  answer.take(value);
  if (!answer.begun) throw new ModelError('malformed', 'the model answered without any content');
};

async function* attemptCall(endpoint: Endpoint, request: ModelRequest, caller: AbortSignal): AsyncGenerator<ModelEvent> {
  const { options, clock, log, redact } = endpoint;
  if (caller.aborted) throw new ModelError('aborted', 'the call was aborted');
  const hasImages = request.messages.some((row) => row.attachments !== undefined);
  const images: Images = hasImages ? await loadImages(request.messages, { mediaFolder: options.mediaFolder, log }) : new Map();
  const body = chatRequest(request, { images, tokenLimit: endpoint.tokenLimit });
  const attempt = beginAttempt(clock, caller, options.requestTimeoutMs);
  let answering = false;
  try {
    const response = await post(endpoint.url, { headers: endpoint.headers, body, signal: attempt.signal });
    if (!response.ok) throw await refused(endpoint, response);
    answering = true;
    const answer = newChatAnswer({ model: request.model, failure: (error) => refusalError({ body: { error }, redact }) });
    const type = response.headers.get('content-type') ?? '';
    if (/^text\/html\b/i.test(type)) throw new ModelError('malformed', 'the model answered with a web page; check `model.base_url`');
    if (/^application\/json\b/i.test(type)) await takeWhole(response.body, answer);
    else yield* streamed(endpoint, attempt, { body: response.body, answer });
    const finish = answer.finish();
    yield* answer.drain();
    yield finish;
  } catch (error) {
    const failure = attempt.explain(error, answering);
    attempt.drop();
    throw failure;
  } finally {
    attempt.close();
  }
}

const completionsUrl = (baseUrl: string): URL => {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  return url;
};

/** An error about a header repeats it, key and all, so the header is made here and its error kept apart. */
const requestHeaders = (apiKey: string | undefined): Headers => {
  const headers = new Headers({ 'content-type': 'application/json', accept: 'text/event-stream, application/json', 'user-agent': 'hermes-gateway' });
  if (apiKey === undefined || apiKey === '') return headers;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new ConfigError('model.api_key contains characters that cannot be part of a key');
  headers.set('authorization', `Bearer ${apiKey}`);
  return headers;
};

/** Any endpoint that speaks OpenAI's chat completions. */
export const newOpenAiProvider = (options: OpenAiOptions, deps: { readonly clock: Clock; readonly log: Logger }): ModelProvider => {
  const redactor = newRedactor();
  if (options.apiKey !== undefined) redactor.remember(options.apiKey);
  const url = completionsUrl(options.baseUrl);
  const endpoint: Endpoint = {
    options,
    url,
    headers: requestHeaders(options.apiKey),
    tokenLimit: tokenLimitField(url.hostname),
    clock: deps.clock,
    log: deps.log,
    redact: (text) => redactor.redact(text),
  };
  return { name: 'openai', stream: (request, signal) => attemptCall(endpoint, request, signal) };
};
