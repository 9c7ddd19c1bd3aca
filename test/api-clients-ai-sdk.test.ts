import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, Output, generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import type { LanguageModel } from 'ai';
import { z } from 'zod';
import { calls, chunkOf, raw, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import { openApiGateway, ownerKey } from './support/api-gateway.ts';
import { until } from './support/whole.ts';

const { world, api } = await openApiGateway();

const openai = () => createOpenAI({ baseURL: `${api.url}/v1`, apiKey: ownerKey });

/** The three ways in which programs with this library reach a server of OpenAI's kind. */
const ways: Readonly<Record<string, () => LanguageModel>> = {
  '@ai-sdk/openai, responses': () => openai().responses('hermes'),
  '@ai-sdk/openai, chat': () => openai().chat('hermes'),
  '@ai-sdk/openai-compatible': () => createOpenAICompatible({ name: 'hermes', baseURL: `${api.url}/v1`, apiKey: ownerKey, includeUsage: true, supportsStructuredOutputs: true })('hermes'),
};

const lastRoles = () => world.model.requests.at(-1)?.body.messages.slice(1).map((message) => message['role']);
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const weather = tool({ description: 'The weather', inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `${city}: sun` });
const roundTrip = [calls({ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }), says('It is sunny.')];

for (const [name, model] of Object.entries(ways)) {
  test(`${name}: generateText answers, with its usage`, async () => {
    const { text, finishReason, usage } = await generateText({ model: model(), instructions: 'Be brief.', prompt: 'hello' });
    assert.deepEqual([text, finishReason, usage.inputTokens, usage.outputTokens, usage.totalTokens], ['re: hello', 'stop', 100, 20, 120]);
    assert.match(String(world.model.requests.at(-1)?.body.messages[0]?.['content']), /Be brief\.$/);
  });

  test(`${name}: streamText streams, with its usage`, async () => {
    const { textStream, finishReason, usage } = streamText({ model: model(), prompt: 'hello there' });
    assert.equal((await Array.fromAsync(textStream)).join(''), 're: hello there');
    assert.deepEqual([await finishReason, (await usage).totalTokens], ['stop', 120]);
  });

  test(`${name}: a conversation with a picture reaches the model`, async () => {
    await generateText({
      model: model(),
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'file', data: png, mediaType: 'image/png' }] },
      ],
    });
    assert.deepEqual(lastRoles(), ['user', 'assistant', 'user']);
    assert.match(JSON.stringify(world.model.requests.at(-1)?.body.messages.at(-1)), /data:image\/png;base64,iVBOR/);
  });

  test(`${name}: the program’s tools are called and the answer comes after their results, streamed and not`, async () => {
    world.model.next(...roundTrip);
    const { text, steps } = await generateText({ model: model(), prompt: 'Oslo?', tools: { weather }, stopWhen: stepCountIs(3) });
    assert.deepEqual([text, steps.length], ['It is sunny.', 2]);
    assert.deepEqual(steps[0]?.toolResults.map(({ output }) => output), ['Oslo: sun']);
    assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool']);
    world.model.next(...roundTrip);
    const streamed = streamText({ model: model(), prompt: 'Oslo?', tools: { weather }, toolChoice: 'auto', stopWhen: stepCountIs(3) });
    assert.equal((await Array.fromAsync(streamed.textStream)).join(''), 'It is sunny.');
    assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool']);
  });

  test(`${name}: answers and calls go back into the conversation as they came`, async () => {
    world.model.next(...roundTrip);
    const asked = { role: 'user' as const, content: 'Oslo?' };
    const first = await generateText({ model: model(), messages: [asked], tools: { weather }, stopWhen: stepCountIs(3) });
    await generateText({ model: model(), messages: [asked, ...first.responseMessages, { role: 'user', content: 'And now?' }], tools: { weather } });
    assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool', 'assistant', 'user']);
    assert.equal(world.model.requests.at(-1)?.body.messages.at(-2)?.['content'], 'It is sunny.');
  });

  test(`${name}: structured output is an object`, async () => {
    world.model.next(says('{"city":"Oslo","degrees":7}'));
    const { output } = await generateText({ model: model(), prompt: 'Oslo?', output: Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) }) });
    assert.deepEqual(output, { city: 'Oslo', degrees: 7 });
    world.model.next(says('{"city":"Oslo"}'));
    assert.deepEqual((await generateObject({ model: model(), prompt: 'Oslo?', schema: z.object({ city: z.string() }) })).object, { city: 'Oslo' });
  });

  test(`${name}: failures are errors, before and within a stream`, async () => {
    world.model.next(status(429, 'slow down'));
    await assert.rejects(generateText({ model: model(), prompt: 'hello', maxRetries: 0 }), (error) => APICallError.isInstance(error) && error.statusCode === 429 && error.isRetryable);
    world.model.next(raw([`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`], { then: 'cut' }));
    const errors: unknown[] = [];
    const { stream } = streamText({ model: model(), prompt: 'hello', maxRetries: 0, onError: ({ error }) => void errors.push(error) });
    for await (const _part of stream) continue;
    assert.equal(errors.length, 1);
  });

  test(`${name}: an abort ends the turn`, async () => {
    world.model.next(silence);
    const seen = world.model.requests.length;
    const leave = new AbortController();
    const asked = generateText({ model: model(), prompt: 'slow', abortSignal: leave.signal });
    await until(() => world.model.requests.length > seen, 'the model to be asked');
    leave.abort();
    await assert.rejects(asked);
    await until(() => api.inside.gateway.api.running === 0, 'the turn to end');
  });
}

test('@ai-sdk/openai goes on from an earlier response by its id', async () => {
  const model = openai().responses('hermes');
  const first = await generateText({ model, prompt: 'one' });
  await generateText({ model, prompt: 'two', providerOptions: { openai: { previousResponseId: String(first.finalStep.providerMetadata?.['openai']?.['responseId']) } } });
  assert.deepEqual(lastRoles(), ['user', 'assistant', 'user']);
});
