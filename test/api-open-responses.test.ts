import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { readEvents, startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { specOf } from './support/json-schema.ts';

/**
 * The cases of the compliance suite of Open Responses (openresponses.org/compliance), each whole and streamed. Our copy of its document lets the schema of a `json_schema` format be an
 * object, as that suite does: the document itself only allows null, and contradicts OpenAI's.
 */

const spec = specOf('open-responses');

let api: ApiGateway;
before(async () => {
  api = await startApiGateway();
});
after(() => api[Symbol.asyncDispose]());

type Output = OpenAI.Responses.Response;
type Event = OpenAI.Responses.ResponseStreamEvent;

interface Case {
  readonly body: Readonly<Record<string, unknown>>;
  /** What the model behind the agent says. */
  readonly model: Answer;
  readonly outputs: readonly string[];
  /** What of the request has to reach the model. */
  readonly heard: readonly (string | RegExp)[];
}

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const image = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Tells the weather of a place',
  parameters: { type: 'object', properties: { location: { type: 'string', description: 'A city' } }, required: ['location'] },
};

const cases: Readonly<Record<string, Case>> = {
  'a basic answer in words': { body: { input: [user('Greet me in three words.')] }, model: says('Hello to you.'), outputs: ['message'], heard: ['Greet me in three words.'] },
  'a system prompt': {
    body: { input: [{ type: 'message', role: 'system', content: 'You are a pirate.' }, user('Greet me.')] },
    model: says('Ahoy!'),
    outputs: ['message'],
    heard: [/You are a pirate\./, 'Greet me.'],
  },
  'a call of a tool': {
    body: { input: [user('How is the weather in Oslo?')], tools: [weather] },
    model: calls({ id: 'call_1', name: 'get_weather', arguments: '{"location":"Oslo"}' }),
    outputs: ['function_call'],
    heard: ['How is the weather in Oslo?', /get_weather/],
  },
  'several calls of a tool': {
    body: { input: [user('How is the weather in Oslo and Bergen?')], tools: [weather], parallel_tool_calls: true },
    model: calls({ id: 'call_1', name: 'get_weather', arguments: '{"location":"Oslo"}' }, { id: 'call_2', name: 'get_weather', arguments: '{"location":"Bergen"}' }),
    outputs: ['function_call', 'function_call'],
    heard: [/Bergen/],
  },
  'the result of a tool': {
    body: { input: [user('Oslo?'), { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"location":"Oslo"}' }, { type: 'function_call_output', call_id: 'call_1', output: 'sun' }], tools: [weather] },
    model: says('It is sunny.'),
    outputs: ['message'],
    heard: ['Oslo?', 'sun'],
  },
  'a picture': { body: { input: [user([{ type: 'input_text', text: 'What is this?' }, { type: 'input_image', image_url: image }])] }, model: says('A dot.'), outputs: ['message'], heard: [/What is this\?/, image] },
  'a conversation of several turns': {
    body: { input: [user('My name is Alice.'), { type: 'message', role: 'assistant', content: 'Hello Alice!' }, user('What is my name?')] },
    model: says('Alice.'),
    outputs: ['message'],
    heard: ['My name is Alice.', 'Hello Alice!', 'What is my name?'],
  },
  'an answer of a given shape': {
    body: { input: [user('Oslo?')], text: { format: { type: 'json_schema', name: 'place', schema: { type: 'object', properties: { city: { type: 'string' } } }, strict: true, description: 'A place' }, verbosity: 'low' } },
    model: says('{"city":"Oslo"}'),
    outputs: ['message'],
    heard: ['Oslo?', /JSON Schema/],
  },
  'every setting that a request may have': {
    body: {
      input: 'Hello',
      instructions: 'Be kind.',
      temperature: 0.5,
      top_p: 0.9,
      presence_penalty: 0.1,
      frequency_penalty: 0.1,
      max_output_tokens: 500,
      max_tool_calls: 3,
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: 'auto' },
      metadata: { a: 'b' },
      truncation: 'auto',
      store: true,
      service_tier: 'default',
      top_logprobs: 1,
      safety_identifier: 'somebody',
      prompt_cache_key: 'key',
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'get_weather' }] },
      tools: [weather],
    },
    model: says('Hello.'),
    outputs: ['message'],
    heard: ['Hello', /Be kind\./],
  },
};

const checkEnd = (response: Output, wanted: Case): void => {
  spec('ResponseResource', response);
  assert.equal(response.status, 'completed');
  assert.deepEqual(response.output.map(({ type }) => type), wanted.outputs);
  const request = JSON.stringify(api.world.model.requests.at(-1)?.body);
  for (const each of wanted.heard) assert.ok(typeof each === 'string' ? request.includes(each) : each.test(request), String(each));
  for (const [name, value] of Object.entries(wanted.body)) if (name !== 'input' && name !== 'tools') assert.deepEqual(response[name as keyof Output], value, name);
};

/** Items open and close one after the other, and nothing is said of one that is not open. */
const checkItems = (events: readonly Event[]): void => {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'response.output_item.added') open.add(event.item.id ?? '');
    if ('item_id' in event) assert.ok(open.has(event.item_id), `${event.type} of an item that is not open`);
    if (event.type === 'response.output_item.done') assert.ok(open.delete(event.item.id ?? ''));
  }
  assert.equal(open.size, 0);
};

const streamed = async (response: Response): Promise<readonly Event[]> => {
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const frames = await readEvents(response);
  return frames.map(({ event, data = '' }, index) => {
    const read = JSON.parse(data) as Event;
    spec('StreamingEvent', read);
    assert.deepEqual([event, read.sequence_number], [read.type, index]);
    return read;
  });
};

for (const [name, wanted] of Object.entries(cases)) {
  test(`Open Responses: ${name}`, async () => {
    api.world.model.next(wanted.model);
    const response = await api.post('/v1/responses', { model: 'hermes', ...wanted.body });
    assert.equal(response.status, 200, await response.clone().text());
    checkEnd((await response.json()) as Output, wanted);
  });

  test(`Open Responses, streamed: ${name}`, async () => {
    api.world.model.next(wanted.model);
    const events = await streamed(await api.post('/v1/responses', { model: 'hermes', ...wanted.body, stream: true }));
    assert.deepEqual(events.slice(0, 2).map(({ type }) => type), ['response.created', 'response.in_progress']);
    const last = events.at(-1);
    assert.ok(last?.type === 'response.completed');
    checkEnd(last.response, wanted);
    checkItems(events);
    const types = new Set(events.map(({ type }) => type));
    const needed = wanted.outputs.includes('message') ? ['response.content_part.added', 'response.output_text.delta', 'response.output_text.done', 'response.content_part.done'] : ['response.function_call_arguments.delta', 'response.function_call_arguments.done'];
    for (const type of ['response.output_item.added', 'response.output_item.done', ...needed]) assert.ok(types.has(type as Event['type']), type);
  });
}
