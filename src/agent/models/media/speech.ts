import { ModelError } from '../../../core/errors.ts';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { newRedactor } from '../../../lib/redact.ts';
import { beginAttempt } from '../endpoints/attempt.ts';
import type { Attempt } from '../endpoints/attempt.ts';
import { addressBelow } from '../endpoints/endpoint.ts';
import { post } from '../endpoints/http-post.ts';
import type { Posted } from '../endpoints/http-post.ts';
import { refusalError } from '../endpoints/refusal.ts';
import { retryAfterMs } from '../endpoints/retry-after.ts';
import type { TaskEndpoint } from '../models.ts';
import { recordOf, textOf } from '../wires/json-fields.ts';
import { parseJson, readText } from '../wires/read-answer.ts';
import { audioTypeOf } from './audio-type.ts';
import type { AudioType } from './audio-type.ts';

/** Something that was recorded, named as what it is: servers go by the ending. */
export interface Recording {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mime: string;
  readonly name: string;
}

export interface SpeechRequest {
  readonly text: string;
  readonly voice: string;
  readonly format: string;
  /** 1 is the usual one; the endpoint decides when it is left out. */
  readonly speed?: number;
}

export interface Spoken extends AudioType {
  readonly bytes: Uint8Array;
}

interface Call<T> {
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
  read(response: Posted): Promise<T>;
}

const maxErrorBytes = 64 * 1024;
const maxTranscriptBytes = 4 * 1024 * 1024;
const maxSpokenBytes = 25 * 1024 * 1024;
/** Before the one repetition. */
const pauseMs = 1000;

const readRefusal = async (response: Posted, keys: readonly string[], nowMs: number): Promise<ModelError> => {
  // The status alone is an answer, also when the connection breaks before its explanation.
  const text = await readText(response.body, maxErrorBytes).then(
    (read) => read.text,
    () => '',
  );
  const { ok, value } = parseJson(text);
  const redactor = newRedactor();
  for (const key of keys) redactor.remember(key);
  const waitMs = retryAfterMs(response.headers, nowMs);
  return refusalError({ status: response.status, body: ok ? value : /^\s*</.test(text) ? '' : text, redact: (words) => redactor.redact(words), ...(waitMs !== undefined && { retryAfterMs: waitMs }) });
};

const askOnce = async <T>(endpoint: TaskEndpoint, call: Call<T>, at: { readonly key: string | undefined; readonly attempt: Attempt; readonly clock: Clock }): Promise<T> => {
  const headers = { 'content-type': call.type, 'user-agent': 'hermes-gateway', ...(at.key !== undefined && { authorization: `Bearer ${at.key}` }) };
  let answering = false;
  try {
    const response = await post(addressBelow(endpoint.baseUrl, call.path), { headers, body: call.body, signal: at.attempt.signal });
    answering = true;
    if (!response.ok) throw await readRefusal(response, endpoint.keys, at.clock.now());
    if (/^text\/html\b/i.test(response.headers.get('content-type') ?? '')) throw new ModelError('malformed', 'the endpoint answered with a web page; check its base_url');
    return await call.read(response);
  } catch (error) {
    throw at.attempt.explain(error, answering);
  }
};

/** Asks with the next key where another one may do, and once more after a failure that may pass; all of it within the endpoint's time. */
const ask = async <T>(endpoint: TaskEndpoint, call: Call<T>, caller: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<T> => {
  const { clock, signal } = caller;
  if (signal.aborted) throw new ModelError('aborted', 'the call was aborted');
  const attempt = beginAttempt(clock, signal, endpoint.timeoutMs);
  const untilMs = clock.now() + endpoint.timeoutMs;
  const keys: readonly (string | undefined)[] = endpoint.keys.length === 0 ? [undefined] : endpoint.keys;
  try {
    for (let at = 0, repeated = false; ; ) {
      try {
        return await askOnce(endpoint, call, { key: keys[at], attempt, clock });
      } catch (error) {
        if (!(error instanceof ModelError) || attempt.signal.aborted) throw error;
        const waitMs = error.retryAfterMs ?? pauseMs;
        if (error.rule.rotateKey && at < keys.length - 1) at += 1;
        else if (!error.rule.retry || repeated || clock.now() + waitMs >= untilMs || !(await slept(clock, waitMs, attempt.signal))) throw error;
        else repeated = true;
      }
    }
  } catch (error) {
    attempt.drop();
    throw error;
  } finally {
    attempt.close();
  }
};

const readTranscript = async (response: Posted): Promise<string> => {
  const { text, whole } = await readText(response.body, maxTranscriptBytes);
  const said = textOf(recordOf(parseJson(text).value)?.['text']);
  if (!whole || said === undefined) throw new ModelError('malformed', 'the endpoint answered with something that is not a transcript');
  return said.trim().toWellFormed();
};

const readSpoken = async (response: Posted): Promise<Spoken> => {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body) {
    size += piece.byteLength;
    if (size > maxSpokenBytes) throw new ModelError('malformed', 'the recording does not end');
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces);
  const type = audioTypeOf(bytes);
  if (type === undefined) throw new ModelError('malformed', 'the endpoint answered with something that is not a recording');
  return { ...type, bytes };
};

/** What was said in a recording, over OpenAI's `/audio/transcriptions`; empty where nothing was. Every failure is a thrown `ModelError`. */
export const transcribe = async (endpoint: TaskEndpoint, recording: Recording & { readonly language?: string }, caller: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<string> => {
  const form = new FormData();
  form.set('model', endpoint.model);
  form.set('response_format', 'json');
  if (recording.language !== undefined) form.set('language', recording.language);
  form.set('file', new Blob([recording.bytes], { type: recording.mime }), recording.name);
  const encoded = new Response(form);
  const body = new Uint8Array(await encoded.arrayBuffer());
  return ask(endpoint, { path: '/audio/transcriptions', type: encoded.headers.get('content-type') ?? '', body, read: readTranscript }, caller);
};

/** A text as speech, over OpenAI's `/audio/speech`. What comes is judged by its bytes: servers do not always answer in the format they are asked for. */
export const speak = (endpoint: TaskEndpoint, request: SpeechRequest, caller: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<Spoken> => {
  const { text, voice, format, speed } = request;
  const body = JSON.stringify({ model: endpoint.model, input: text, voice, response_format: format, ...(speed !== undefined && { speed }) });
  return ask(endpoint, { path: '/audio/speech', type: 'application/json', body, read: readSpoken }, caller);
};
