import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, MemorySession, OpenAIProvider, Runner, tool, withResponsesWebSocketSession } from '@openai/agents';
import { z } from 'zod';
import { calls, chunkOf, raw, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import { openApiGateway } from './support/api-gateway.ts';
import { until } from './support/whole.ts';

const { world, api } = await openApiGateway();

const lastMessages = () => world.model.requests.at(-1)?.body.messages ?? [];
const lastRoles = () => lastMessages().slice(1).map((message) => message['role']);
const weather = tool({ name: 'weather', description: 'The weather', parameters: z.object({ city: z.string() }), execute: ({ city }) => `${city}: sun` });
const callOslo = calls({ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' });

const newRunner = (useResponses: boolean): Runner => new Runner({ modelProvider: new OpenAIProvider({ openAIClient: api.client(), useResponses }), tracingDisabled: true });
const newAgent = (more: Readonly<Partial<ConstructorParameters<typeof Agent>[0]>> = {}) => new Agent({ name: 'Helper', instructions: 'Be brief.', model: 'hermes', ...more });

for (const useResponses of [false, true]) {
  const name = `OpenAI Agents, ${useResponses ? 'responses' : 'chat completions'}`;

  test(`${name}: an agent of theirs answers with ours as its model`, async () => {
    const { finalOutput, state } = await newRunner(useResponses).run(newAgent(), 'hello');
    assert.equal(finalOutput, 're: hello');
    assert.equal(state.usage.totalTokens, 120);
    assert.match(String(lastMessages()[0]?.['content']), /Be brief\.$/);
  });

  test(`${name}: function tools are called, streamed and not`, async () => {
    const agent = newAgent({ tools: [weather] });
    world.model.next(callOslo, says('It is sunny.'));
    assert.equal((await newRunner(useResponses).run(agent, 'Oslo?')).finalOutput, 'It is sunny.');
    assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool']);
    world.model.next(callOslo, says('It is sunny.'));
    const streamed = await newRunner(useResponses).run(agent, 'Oslo?', { stream: true });
    let text = '';
    for await (const event of streamed) if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') text += event.data.delta;
    await streamed.completed;
    assert.deepEqual([text, streamed.finalOutput], ['It is sunny.', 'It is sunny.']);
    assert.deepEqual(lastMessages().at(-1), { role: 'tool', tool_call_id: 'call_1', content: 'Oslo: sun' });
  });

  test(`${name}: one agent of theirs hands over to another`, async () => {
    const expert = newAgent({ name: 'Expert', instructions: 'You know everything.' });
    const front = Agent.create({ name: 'Front', model: 'hermes', handoffs: [expert] });
    world.model.next(calls({ id: 'call_2', name: 'transfer_to_Expert', arguments: '{}' }), says('I know.'));
    const { finalOutput, lastAgent } = await newRunner(useResponses).run(front, 'help');
    assert.deepEqual([finalOutput, lastAgent?.name], ['I know.', 'Expert']);
    assert.match(String(lastMessages()[0]?.['content']), /You know everything\.$/);
  });

  test(`${name}: an answer has the type that was asked for`, async () => {
    world.model.next(says('{"city":"Oslo","degrees":7}'));
    const { finalOutput } = await newRunner(useResponses).run(newAgent({ outputType: z.object({ city: z.string(), degrees: z.number() }) }), 'Oslo?');
    assert.deepEqual(finalOutput, { city: 'Oslo', degrees: 7 });
  });

  test(`${name}: a session of theirs carries the conversation, calls and all`, async () => {
    const runner = newRunner(useResponses);
    const session = new MemorySession();
    const agent = newAgent({ tools: [weather] });
    world.model.next(callOslo, says('It is sunny.'));
    await runner.run(agent, 'Oslo?', { session });
    assert.equal((await runner.run(agent, 'And now?', { session })).finalOutput, 're: And now?');
    assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  test(`${name}: failures are errors, before and within a stream`, async () => {
    world.model.next(status(429, 'slow down'));
    await assert.rejects(newRunner(useResponses).run(newAgent(), 'hello'), { status: 429 });
    world.model.next(raw([`data: ${JSON.stringify(chunkOf({ content: 'half ' }))}\n\n`], { then: 'cut' }));
    await assert.rejects(async () => {
      const streamed = await newRunner(useResponses).run(newAgent(), 'hello', { stream: true });
      for await (const _event of streamed) continue;
      await streamed.completed;
    });
  });

  test(`${name}: an abort ends the turn`, async () => {
    const seen = world.model.requests.length;
    world.model.next(silence);
    const leave = new AbortController();
    const asked = newRunner(useResponses).run(newAgent(), 'slow', { signal: leave.signal });
    await until(() => world.model.requests.length > seen, 'the model to be asked');
    leave.abort();
    await assert.rejects(asked);
    await until(() => api.inside.gateway.api.running === 0, 'the turn to end');
  });
}

test('OpenAI Agents go on from an earlier response, or in a conversation of a name, with only what is new', async () => {
  const runner = newRunner(true);
  const agent = newAgent({ tools: [weather] });
  world.model.next(callOslo, says('It is sunny.'));
  const first = await runner.run(agent, 'Oslo?');
  await runner.run(agent, 'And now?', { previousResponseId: first.lastResponseId ?? '' });
  assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool', 'assistant', 'user']);
  world.model.next(callOslo, says('It is sunny.'));
  await runner.run(agent, 'Oslo?', { conversationId: 'agents-sdk' });
  await runner.run(agent, 'And now?', { conversationId: 'agents-sdk' });
  assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool', 'assistant', 'user']);
});

test('OpenAI Agents over one WebSocket: tools, streaming, and going on from an earlier response', async () => {
  const agent = newAgent({ tools: [weather] });
  world.model.next(callOslo, says('It is sunny.'));
  await withResponsesWebSocketSession(
    async ({ run }) => {
      const streamed = await run(agent, 'Oslo?', { stream: true });
      for await (const _event of streamed) continue;
      await streamed.completed;
      assert.equal(streamed.finalOutput, 'It is sunny.');
      assert.equal((await run(agent, 'And now?', { previousResponseId: streamed.lastResponseId ?? '' })).finalOutput, 're: And now?');
      assert.deepEqual(lastRoles(), ['user', 'assistant', 'tool', 'assistant', 'user']);
    },
    { providerOptions: { openAIClient: api.client() }, runnerConfig: { tracingDisabled: true } },
  );
});
