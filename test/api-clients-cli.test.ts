import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { streamedAnswer } from '../bench/client-fixture.ts';
import type { RecordedRequest } from '../bench/client-fixture.ts';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { readFrames, startApiGateway } from './support/api-gateway.ts';
import type { ApiGateway } from './support/api-gateway.ts';
import { specOf } from './support/json-schema.ts';

const openai = specOf('openai');
const openResponses = specOf('open-responses');

let api: ApiGateway;
before(async () => {
  api = await startApiGateway();
});
after(() => api[Symbol.asyncDispose]());

/** What the programs have really asked, as bench/clients-trial.ts wrote it down. */
const recorded = (client: string): readonly RecordedRequest[] => JSON.parse(readFileSync(new URL(`fixtures/api-clients/${client}.json`, import.meta.url), 'utf8')) as readonly RecordedRequest[];

const checkFrame = (path: string, data: unknown): void => {
  if (path === '/v1/chat/completions') return openai('CreateChatCompletionStreamResponse', data);
  openai('ResponseStreamEvent', data);
  openResponses('StreamingEvent', data);
};

const askAgain = async ({ path, headers, body, answer }: RecordedRequest): Promise<void> => {
  api.world.model.next(answer.calls.length > 0 ? calls(...answer.calls) : says(answer.text));
  const response = await api.post(path, body, headers);
  assert.equal(response.status, 200, await response.clone().text());
  const copy = response.clone();
  for (const { data = '' } of await readFrames(response)) if (data.startsWith('{')) checkFrame(path, JSON.parse(data));
  assert.deepEqual(streamedAnswer(await copy.text()), answer);
};

for (const client of ['codex', 'opencode-chat', 'opencode-responses']) {
  test(`what ${client} asks is answered: words, calls of its tools, and what comes after their results`, async () => {
    const requests = recorded(client);
    for (const request of requests) await askAgain(request);
    const heard = api.world.model.requests.slice(-requests.length).map(({ body }) => body);
    assert.ok(heard.some(({ messages }) => messages.some((message) => message['role'] === 'tool' && message['tool_call_id'] === 'call_write')));
    assert.ok(heard.some(({ messages }) => JSON.stringify(messages).includes('data:image/png;base64,')));
    const sessions = await api.inside.store.read((db) => db.q.selectFrom('sessions').select('id').execute());
    assert.deepEqual(sessions, []);
  });
}
