import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { z } from 'zod';
import type { HttpEnv } from '../../client.ts';
import type { TurnAnswer } from '../answer.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { agentOfModel } from '../models.ts';
import { peek } from '../peek.ts';
import { checked } from '../read-body.ts';
import { askForResponse } from './ask.ts';
import type { AskedResponse, ResponsesDeps } from './ask.ts';
import type { Json } from './input.ts';
import { withReferences } from './references.ts';
import { responseRequest } from './request.ts';
import type { InputItem, ResponseRequest } from './request.ts';
import { headOf, responseResource } from './resource.ts';
import { responseEvents } from './stream.ts';

/** A response that only its connection remembers: nothing of it is kept elsewhere. */
interface Remembered {
  readonly id: string;
  readonly items: readonly InputItem[];
}

const createMessage = responseRequest.extend({ type: z.literal('response.create'), generate: z.boolean().nullish() });

/** Whoever only prepares may have nothing to say yet. */
const warmupMessage = createMessage.extend({ input: createMessage.shape.input.default('') });

const itemsOf = ({ input }: Pick<ResponseRequest, 'input'>): readonly InputItem[] => {
  if (typeof input !== 'string') return input;
  return input === '' ? [] : [{ type: 'message', role: 'user', content: input }];
};

const saidIn = ({ text, calls }: TurnAnswer): readonly InputItem[] => [
  ...(text === '' ? [] : [{ type: 'message', role: 'assistant', content: text } as const]),
  ...calls.map((call) => ({ type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments }) as const),
];

/** Answers the messages of one connection. */
export class SocketTurns {
  readonly #deps: ResponsesDeps;
  #last: Remembered | undefined;

  constructor(deps: ResponsesDeps) {
    this.#deps = deps;
  }

  /** The events that answer a `response.create`; throws the refusal when there are none. */
  async *answer(c: Context<HttpEnv>, caller: Caller, message: Json): AsyncGenerator<Json, void, undefined> {
    const isWarmup = message['generate'] === false;
    const { type: _type, generate: _generate, stream: _stream, stream_options: _options, ...bare } = checked(isWarmup ? warmupMessage : createMessage, message);
    if (bare.background === true) throw new ApiError(400, 'A response over a WebSocket is not made in the background.', { code: 'invalid_value', param: 'background' });
    const said = await withReferences(bare, { gate: this.#deps.gate(), caller });
    const { previous_response_id: previous } = said;
    const before = previous === this.#last?.id ? this.#last : undefined;
    const request: ResponseRequest = before === undefined ? said : { ...said, input: [...before.items, ...itemsOf(said)], previous_response_id: null };
    if (isWarmup) yield* this.#prepare(request, previous ?? null);
    else yield* this.#respond(c, { caller, request, echoed: previous ?? null });
  }

  async *#respond(c: Context<HttpEnv>, asked: { readonly caller: Caller; readonly request: ResponseRequest; readonly echoed: string | null }): AsyncGenerator<Json, void, undefined> {
    const { caller, request, echoed } = asked;
    const { clock } = this.#deps;
    // What failed cannot be continued.
    this.#last = undefined;
    const { head, steps } = await askForResponse(this.#deps, c, { caller, request });
    const { first, all } = await peek(this.#remembering({ head, steps }, request), clock);
    if (first?.done === true && first.value instanceof ApiError) throw first.value;
    const shown = { ...head, echo: { ...head.echo, previous_response_id: echoed } };
    let left = 0;
    for await (const { event, data } of responseEvents(shown, all, () => Math.floor(clock.now() / 1000))) {
      // On a connection that goes on, an error is what takes the place of a response; one that has begun ends by itself.
      if (event === 'error') left += 1;
      else yield { ...data, sequence_number: data.sequence_number - left };
    }
  }

  /** What is stored can be continued from there; of anything else this is the only trace. */
  async *#remembering({ head, steps }: AskedResponse, request: ResponseRequest): AskedResponse['steps'] {
    const ended = yield* steps;
    if (request.store === false && !(ended instanceof ApiError)) this.#last = { id: head.id, items: [...itemsOf(request), ...saidIn(ended)] };
    return ended;
  }

  /** Nothing is asked of anybody; the next message may go on from here. */
  *#prepare(request: ResponseRequest, echoed: string | null): Generator<Json, void, undefined> {
    const createdAt = Math.floor(this.#deps.clock.now() / 1000);
    const model = request.model ?? 'hermes';
    agentOfModel(model, this.#deps.gate());
    const head = headOf({ ...request, previous_response_id: echoed }, { id: `resp_${randomBytes(14).toString('hex')}`, createdAt, model });
    this.#last = { id: head.id, items: itemsOf(request) };
    yield { type: 'response.created', sequence_number: 0, response: responseResource(head, { status: 'in_progress' }) };
    yield { type: 'response.in_progress', sequence_number: 1, response: responseResource(head, { status: 'in_progress' }) };
    yield { type: 'response.completed', sequence_number: 2, response: responseResource(head, { status: 'completed', completedAt: createdAt }) };
  }
}
