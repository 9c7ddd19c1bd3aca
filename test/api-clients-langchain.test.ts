import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { StringOutputParser } from '@langchain/core/output_parsers';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { calls, chunkOf, raw, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import { openApiGateway, ownerKey } from './support/api-gateway.ts';
import { until } from './support/whole.ts';

const { world, api } = await openApiGateway();

const lastMessages = () => world.model.requests.at(-1)?.body.messages ?? [];
const tokensOf = ({ usage_metadata: usage }: { readonly usage_metadata?: { readonly total_tokens: number } | undefined }): number => usage?.total_tokens ?? 0;
const lastRoles = () => lastMessages().slice(1).map((message) => message['role']);
const weather = tool(({ city }) => `${city}: sun`, { name: 'weather', description: 'The weather', schema: z.object({ city: z.string() }) });
const place = z.object({ city: z.string(), degrees: z.number() });
const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

for (const useResponsesApi of [false, true]) {
  const name = `LangChain, ${useResponsesApi ? 'responses' : 'chat completions'}`;
  const newModel = () => new ChatOpenAI({ model: 'hermes', apiKey: ownerKey, useResponsesApi, maxRetries: 0, configuration: { baseURL: `${api.url}/v1` } });

  test(`${name}: a whole conversation is answered, with its usage`, async () => {
    const answer = await newModel().invoke([new SystemMessage('Be brief.'), new HumanMessage('one'), new AIMessage('two'), new HumanMessage('three')]);
    assert.equal(answer.text, 're: three');
    assert.equal(tokensOf(answer), 120);
    assert.deepEqual(lastRoles(), ['user', 'assistant', 'user']);
    assert.match(String(lastMessages()[0]?.['content']), /Be brief\.$/);
  });

  test(`${name}: an answer goes back into the conversation as it came`, async () => {
    const model = newModel();
    const first = await model.invoke([new HumanMessage('one')]);
    await model.invoke([new HumanMessage('one'), first, new HumanMessage('two')]);
    assert.deepEqual(lastMessages().slice(1).map((message) => message['content']), ['one', 're: one', 'two']);
  });

  test(`${name}: answers are streamed, with the usage at the end`, async () => {
    const stream = await newModel().stream('a long story');
    let whole = '';
    let tokens = 0;
    for await (const chunk of stream) {
      whole += chunk.text;
      tokens += tokensOf(chunk);
    }
    assert.deepEqual([whole, tokens], ['re: a long story', 120]);
  });

  test(`${name}: chains and batches work`, async () => {
    const chain = ChatPromptTemplate.fromMessages([['system', 'Be brief.'], ['human', '{question}']]).pipe(newModel()).pipe(new StringOutputParser());
    assert.deepEqual(await chain.batch([{ question: 'a' }, { question: 'b' }]), ['re: a', 're: b']);
  });

  test(`${name}: a picture reaches the model`, async () => {
    await newModel().invoke([new HumanMessage({ content: [{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: png } }] })]);
    assert.ok(JSON.stringify(lastMessages().at(-1)).includes(png));
  });

  test(`${name}: bound tools are called, and the conversation goes on with their results, streamed and not`, async () => {
    const bound = newModel().bindTools([weather]);
    world.model.next(calls({ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }));
    const question = new HumanMessage('Oslo?');
    const asked = await bound.invoke([question]);
    assert.deepEqual(asked.tool_calls?.map(({ name: called, args, id }) => [called, args, id]), [['weather', { city: 'Oslo' }, 'call_1']]);
    const results = await Promise.all((asked.tool_calls ?? []).map((call) => weather.invoke(call)));
    world.model.next(says('It is sunny.'));
    assert.equal((await bound.invoke([question, asked, ...(results as ToolMessage[])])).text, 'It is sunny.');
    assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool']);
    world.model.next(calls({ id: 'call_2', name: 'weather', arguments: '{"city":"Oslo"}' }));
    const chunks = await Array.fromAsync(await bound.stream([question]));
    const whole = chunks.slice(1).reduce((sum, chunk) => sum.concat(chunk), chunks[0] ?? assert.fail('no chunk'));
    assert.deepEqual(whole.tool_calls?.map(({ args }) => args), [{ city: 'Oslo' }]);
    world.model.next(says('Still sunny.'));
    assert.equal((await bound.invoke([question, whole, new ToolMessage({ tool_call_id: 'call_2', content: 'sun' })])).text, 'Still sunny.');
  });

  test(`${name}: structured output by schema and by function`, async () => {
    world.model.next(says('{"city":"Oslo","degrees":7}'));
    assert.deepEqual(await newModel().withStructuredOutput(place, { method: 'jsonSchema' }).invoke('Oslo?'), { city: 'Oslo', degrees: 7 });
    world.model.next(calls({ id: 'call_3', name: 'extract', arguments: '{"city":"Oslo","degrees":7}' }));
    assert.deepEqual(await newModel().withStructuredOutput(place, { method: 'functionCalling', name: 'extract' }).invoke('Oslo?'), { city: 'Oslo', degrees: 7 });
  });

  test(`${name}: failures are errors, before and within a stream`, async () => {
    world.model.next(status(429, 'slow down'));
    await assert.rejects(newModel().invoke('hello'), { status: 429 });
    world.model.next(raw([`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`], { then: 'cut' }));
    await assert.rejects(async () => {
      for await (const _chunk of await newModel().stream('hello')) continue;
    });
  });

  test(`${name}: an abort ends the turn`, async () => {
    const seen = world.model.requests.length;
    world.model.next(silence);
    const leave = new AbortController();
    const asked = newModel().invoke('slow', { signal: leave.signal });
    await until(() => world.model.requests.length > seen, 'the model to be asked');
    leave.abort();
    await assert.rejects(asked);
    await until(() => api.inside.gateway.api.running === 0, 'the turn to end');
  });
}

test('LangChain goes on from an earlier response by its id', async () => {
  const model = new ChatOpenAI({ model: 'hermes', apiKey: ownerKey, useResponsesApi: true, configuration: { baseURL: `${api.url}/v1` } });
  const first = await model.invoke('one');
  await model.invoke('two', { previous_response_id: String(first.response_metadata['id']) });
  assert.deepEqual(lastRoles(), ['user', 'assistant', 'user']);
});
