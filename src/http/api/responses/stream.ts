import { noUsage } from '../../../core/transcript.ts';
import type { ToolCall } from '../../../core/transcript.ts';
import { endSteps } from '../answer.ts';
import type { AnswerStep, TurnAnswer } from '../answer.ts';
import { ApiError } from '../api-error.ts';
import type { Frame } from '../event-stream.ts';
import type { Json } from './input.ts';
import { callItem, messageItem, responseResource, statusOf, textPart } from './resource.ts';
import type { ResponseHead } from './resource.ts';

/** One event of a streamed response. */
export interface ResponseFrame {
  readonly event: string;
  readonly data: Json & { readonly sequence_number: number };
}

type Steps = AsyncGenerator<AnswerStep, TurnAnswer | ApiError, undefined>;

/** Numbers events without gaps and knows which item is open. */
class ResponseWriter {
  readonly #head: ResponseHead;
  #next = 0;
  #index = 0;
  #text: string | undefined;

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  event(type: string, fields: Json): ResponseFrame {
    const frame = { event: type, data: { type, sequence_number: this.#next, ...fields } };
    this.#next += 1;
    return frame;
  }

  *delta(delta: string): Generator<ResponseFrame> {
    const at = { item_id: messageItem(this.#head.id, 'in_progress').id, output_index: this.#index, content_index: 0 };
    if (this.#text === undefined) {
      yield this.event('response.output_item.added', { output_index: this.#index, item: messageItem(this.#head.id, 'in_progress') });
      yield this.event('response.content_part.added', { ...at, part: textPart('') });
    }
    this.#text = (this.#text ?? '') + delta;
    yield this.event('response.output_text.delta', { ...at, delta, logprobs: [] });
  }

  *endText(status: 'completed' | 'incomplete'): Generator<ResponseFrame> {
    if (this.#text === undefined) return;
    const text = this.#text;
    const item = messageItem(this.#head.id, status, text);
    const at = { item_id: item.id, output_index: this.#index, content_index: 0 };
    yield this.event('response.output_text.done', { ...at, text, logprobs: [] });
    yield this.event('response.content_part.done', { ...at, part: textPart(text) });
    yield this.event('response.output_item.done', { output_index: this.#index, item });
    this.#text = undefined;
    this.#index += 1;
  }

  *call(call: ToolCall): Generator<ResponseFrame> {
    const item = callItem(this.#head, call, 'in_progress');
    const at = { item_id: item.id, output_index: this.#index };
    yield this.event('response.output_item.added', { output_index: this.#index, item });
    yield this.event('response.function_call_arguments.delta', { ...at, delta: call.arguments });
    yield this.event('response.function_call_arguments.done', { ...at, name: call.name, arguments: call.arguments });
    yield this.event('response.output_item.done', { output_index: this.#index, item: callItem(this.#head, call, 'completed') });
    this.#index += 1;
  }
}

/** As they go over a stream of server-sent events, which ends with a word of its own. */
export async function* withEnd(frames: AsyncGenerator<ResponseFrame, void, undefined>): AsyncGenerator<Frame, void, undefined> {
  yield* frames;
  yield { data: '[DONE]' };
}

/** The events of a streamed response. */
export async function* responseEvents(head: ResponseHead, steps: Steps, nowSeconds: () => number): AsyncGenerator<ResponseFrame, void, undefined> {
  const writer = new ResponseWriter(head);
  let said = '';
  try {
    const begun = responseResource(head, { status: 'in_progress' });
    yield writer.event('response.created', { response: begun });
    yield writer.event('response.in_progress', { response: begun });
    for (;;) {
      const { value: step, done } = await steps.next();
      if (done === true) {
        yield* ended(writer, head, { end: step, said, completedAt: nowSeconds() });
        return;
      }
      switch (step.type) {
        case 'text':
          said += step.delta;
          yield* writer.delta(step.delta);
          break;
        case 'calls':
          yield* writer.endText('completed');
          for (const call of step.calls) yield* writer.call(call);
          break;
        case 'tool':
          break;
        default:
          throw step satisfies never;
      }
    }
  } finally {
    await endSteps(steps);
  }
}

function* ended(writer: ResponseWriter, head: ResponseHead, { end, said, completedAt }: { readonly end: TurnAnswer | ApiError; readonly said: string; readonly completedAt: number }): Generator<ResponseFrame> {
  if (end instanceof ApiError) {
    yield* writer.endText('incomplete');
    const answer = said === '' ? undefined : ({ text: said, calls: [], finish: 'stop', usage: noUsage } satisfies TurnAnswer);
    // Some clients know only this one; the two documents put its fields in two places.
    const { code, message, param } = end.body;
    yield writer.event('error', { code, message, param, error: end.body });
    yield writer.event('response.failed', { response: responseResource(head, { status: 'failed', error: end, ...(answer !== undefined && { answer }) }) });
    return;
  }
  const status = statusOf(end);
  yield* writer.endText(status);
  yield writer.event(`response.${status}`, { response: responseResource(head, { status, answer: end, completedAt }) });
}
