import { ModelError } from '../../../core/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ModelEvent } from '../contract.ts';
import type { Attempt } from '../endpoints/attempt.ts';
import type { Posted } from '../endpoints/http-post.ts';
import type { Answer } from './answer.ts';
import { readSse } from './sse.ts';
import type { SseEvent } from './sse.ts';

const maxEventChars = 4 * 1024 * 1024;
const maxAnswerBytes = 32 * 1024 * 1024;
/** The tokens are counted after the reason to stop was given; a server that never says that it is done is not waited for longer. */
const usageWaitMs = 2000;
/** The end of the body follows the last event at once; having read it keeps the connection for the next call. */
const endWaitMs = 250;

export const parseJson = (text: string): { readonly ok: boolean; readonly value: unknown } => {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, value: undefined };
    throw error;
  }
};

export const readText = async (body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<{ readonly text: string; readonly whole: boolean }> => {
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

const takeEvent = (answer: Answer, event: SseEvent, last: boolean): 'done' | 'more' => {
  const data = event.data.trim();
  if (data === '[DONE]') return 'done';
  if (data === '') return 'more';
  const { ok, value } = parseJson(data);
  // A body that was cut leaves half an event behind; that is no fault of the half.
  if (!ok && last) return 'more';
  if (!ok && event.name !== 'error') throw new ModelError('malformed', 'the model sent a chunk that is not JSON');
  answer.take(event.name === 'error' ? { error: ok ? value : data } : value);
  return answer.complete ? 'done' : 'more';
};

export interface Reading {
  readonly answer: Answer;
  readonly attempt: Attempt;
  readonly clock: Clock;
  /** Between two events. */
  readonly stallTimeoutMs: number;
}

async function* streamed(body: ReadableStream<Uint8Array>, { answer, attempt, clock, stallTimeoutMs }: Reading): AsyncGenerator<ModelEvent> {
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
      else if (!answer.finished) attempt.deadline.set(clock.now() + stallTimeoutMs);
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

const takeWhole = async (body: ReadableStream<Uint8Array> | null, answer: Answer): Promise<void> => {
  const { text, whole } = await readText(body, maxAnswerBytes);
  const { ok, value } = parseJson(text);
  if (!whole || !ok) throw new ModelError('malformed', text === '' ? 'the model answered with an empty body' : 'the model answered with something that is not JSON');
  answer.take(value);
  if (!answer.begun) throw new ModelError('malformed', 'the model answered without any content');
};

/** Reads an answer, streamed or whole, to its end and hands on what it says. `finish` comes last. */
export async function* readAnswer(response: Posted, reading: Reading): AsyncGenerator<ModelEvent> {
  const { answer } = reading;
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/html\b/i.test(type)) throw new ModelError('malformed', 'the model answered with a web page; check `model.base_url`');
  if (/^application\/json\b/i.test(type)) await takeWhole(response.body, answer);
  else yield* streamed(response.body, reading);
  const finish = answer.finish();
  yield* answer.drain();
  yield finish;
}
