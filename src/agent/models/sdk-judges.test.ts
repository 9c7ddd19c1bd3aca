import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { json, newChatSimulator } from './chat-simulator.ts';
import type { ChatSimulator } from './chat-simulator.ts';
import { answers, scripts } from './scripted-answers.ts';

/** The makers' own clients read what our simulator says, so that our readers are not measured by our own idea of the formats. */

const answer = { reasoning: { text: 'they greet', seal: 'SEALED' }, text: 'Hello there friend', calls: [{ id: 'call_a', name: 'look', arguments: '{"x":1}' }] };

let simulator: ChatSimulator;
before(async () => {
  simulator = await newChatSimulator();
});
after(() => simulator[Symbol.asyncDispose]());

const openai = (): OpenAI => new OpenAI({ apiKey: 'k', baseURL: simulator.baseUrl, maxRetries: 0 });
const anthropic = (): Anthropic => new Anthropic({ apiKey: 'k', baseURL: simulator.baseUrl.replace(/\/v1$/, ''), maxRetries: 0 });

test('OpenAI’s client reads a scripted chat completion, streamed and whole', async () => {
  simulator.next(answers(scripts.chat, answer), json(scripts.chat.whole(answer)));
  const streamed = await openai().chat.completions.stream({ model: 'm', messages: [], stream_options: { include_usage: true } }).finalChatCompletion();
  const whole = await openai().chat.completions.create({ model: 'm', messages: [] });
  for (const { choices, usage } of [streamed, whole]) {
    const [choice] = choices;
    assert.equal(choice?.message.content, answer.text);
    assert.equal(choice?.finish_reason, 'tool_calls');
    const made = choice?.message.tool_calls?.[0];
    assert.ok(made?.type === 'function');
    assert.deepEqual([made.id, made.function.name, made.function.arguments], ['call_a', 'look', '{"x":1}']);
    assert.equal(usage?.prompt_tokens, 100);
  }
});

test('OpenAI’s client reads a scripted response, streamed and whole', async () => {
  simulator.next(answers(scripts.responses, answer), json(scripts.responses.whole(answer)));
  const streamed = await openai().responses.stream({ model: 'm', input: 'hello' }).finalResponse();
  const whole = await openai().responses.create({ model: 'm', input: 'hello' });
  for (const { output, output_text: text, usage } of [streamed, whole]) {
    assert.deepEqual(output.map(({ type }) => type), ['reasoning', 'message', 'function_call']);
    assert.equal(text, answer.text);
    assert.equal(usage?.output_tokens_details.reasoning_tokens, 7);
  }
});

test('Anthropic’s client reads a scripted message, streamed and whole', async () => {
  simulator.next(answers(scripts.anthropic, answer), json(scripts.anthropic.whole(answer)));
  const ask = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'hello' }] };
  const streamed = await anthropic().messages.stream(ask).finalMessage();
  const whole = await anthropic().messages.create(ask);
  for (const { content, stop_reason: reason, usage } of [streamed, whole]) {
    assert.equal(reason, 'tool_use');
    assert.deepEqual(content.map(({ type }) => type), ['thinking', 'text', 'tool_use']);
    const [thought, text, use] = content;
    assert.ok(thought?.type === 'thinking' && text?.type === 'text' && use?.type === 'tool_use');
    assert.deepEqual([thought.thinking, thought.signature, text.text, use.input], ['they greet', 'SEALED', answer.text, { x: 1 }]);
    assert.deepEqual([usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens], [30, 64, 20]);
  }
});

test('the makers’ clients understand the scripted refusals as what they are', async () => {
  const refusal = (script: (typeof scripts)[keyof typeof scripts]) => (response: { writeHead(code: number, headers: Record<string, string>): { end(text: string): void } }): void =>
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' }).end(JSON.stringify(script.error('rate_limit_error', 'slow')));
  simulator.next(refusal(scripts.chat), refusal(scripts.responses), refusal(scripts.anthropic));
  await assert.rejects(openai().chat.completions.create({ model: 'm', messages: [] }), OpenAI.RateLimitError);
  await assert.rejects(openai().responses.create({ model: 'm', input: 'x' }), OpenAI.RateLimitError);
  await assert.rejects(anthropic().messages.create({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] }), Anthropic.RateLimitError);
});
