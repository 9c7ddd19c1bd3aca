import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chunkOf, chunks, status } from '../src/agent/models/chat-simulator.ts';
import type { Answer, SimulatedRequest } from '../src/agent/models/chat-simulator.ts';
import { countCompressions } from '../src/store/sessions/compressions.ts';
import { searchMessages } from '../src/store/sessions/search.ts';
import { listSessions } from '../src/store/sessions/sessions.ts';
import type { Session } from '../src/store/sessions/sessions.ts';
import { appendMessage } from '../src/store/sessions/transcripts.ts';
import type { Store } from '../src/store/store.ts';
import { outboxRows, peek } from './support/scenes.ts';
import { lastUserText, newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const windowTokens = 8_000;

/** Not how we estimate, so that nothing fits by agreement. */
const tokensOf = (request: SimulatedRequest): number => Math.ceil(Buffer.byteLength(JSON.stringify(request.body)) / 3.6);

const isSummary = ({ body }: SimulatedRequest): boolean => JSON.stringify(body.messages[0]).includes('You keep the notes');

const textOf = ({ body }: SimulatedRequest): string => JSON.stringify(body.messages);

const factsIn = (text: string): readonly string[] => [...new Set(text.match(/FACT-\w+/g))];

const answerWith =
  (text: string): Answer =>
  (response, request) =>
    chunks(chunkOf({ role: 'assistant', content: text }), chunkOf({}, 'stop'), {
      ...chunkOf({}),
      choices: [],
      usage: { prompt_tokens: tokensOf(request), completion_tokens: Math.ceil(text.length / 4), total_tokens: 0 },
    })(response, request);

interface WindowedModel {
  readonly answer: Answer;
  refusals(): number;
  summaries(): number;
}

/** A model with a window: what does not fit is refused, as servers do. Asked for a summary, it keeps the facts; asked what it remembers, it says those that it can see. */
const newModel = (beforeSummary: () => Promise<unknown> = () => Promise.resolve()): WindowedModel => {
  let refusals = 0;
  let summaries = 0;
  const answer: Answer = async (response, request) => {
    if (tokensOf(request) > windowTokens) {
      refusals += 1;
      return status(400, { error: { code: 'context_length_exceeded', message: `This model's maximum context length is ${windowTokens} tokens.` } })(response, request);
    }
    if (isSummary(request)) {
      summaries += 1;
      await beforeSummary();
      return answerWith(`## To remember exactly\n${factsIn(textOf(request)).join('\n')}`)(response, request);
    }
    const asked = lastUserText(request.body);
    return answerWith(asked.endsWith('What do you remember?') ? `I remember ${factsIn(textOf(request)).join(' ')}` : `re: ${asked.slice(0, 200)}`)(response, request);
  };
  return { answer, refusals: () => refusals, summaries: () => summaries };
};

const configure = (world: World, contextLength = windowTokens): Promise<void> =>
  world.configure({
    model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key', context_length: contextLength, max_output_tokens: 1000 },
    agent: { queue_limit: 100 },
    tools: { toolsets: ['time'] },
    display: { streaming: false, busy_input_mode: 'queue', busy_ack_enabled: false },
  });

const sentence = 'We talk about this and that, as one does in the course of a long afternoon. ';

/** Every fiftieth message holds a fact, the third first. */
const hasFact = (n: number): boolean => n % 50 === 3;

const message = (n: number): string => `${n}: ${sentence.repeat(3)}${hasFact(n) ? ` Remember FACT-${n}.` : ''}`;

const numbers = (from: number, count: number): readonly number[] => Array.from({ length: count }, (_, i) => from + i);

/** Says something, one after the other, and waits until all of it is answered. */
const talk = async (world: World, ...texts: readonly string[]): Promise<string> => {
  const answers = world.shown().length + texts.length;
  for (const text of texts) await world.say(text);
  await until(() => world.shown().length >= answers, `an answer to ${texts.at(-1)?.slice(0, 30)}`, 120_000);
  return world.shown().at(-1) ?? '';
};

const onlySession = async (store: Store): Promise<Session> => (await store.read((db) => listSessions(db, { limit: 1 })))[0] ?? assert.fail('there is no conversation');

describe('a long conversation', { concurrency: true }, () => {
  test('of thousands of messages stays within its window and keeps its facts', { timeout: 600_000 }, async () => {
    await using world = await newWorld();
    const model = newModel();
    world.model.otherwise(model.answer);
    await configure(world);
    await using inside = await startInside(world);
    const all = numbers(1, 1000);
    for (let at = 0; at < all.length; at += 25) await talk(world, ...all.slice(at, at + 25).map(message));
    assert.deepEqual(factsIn(await talk(world, 'What do you remember?')), all.filter(hasFact).map((n) => `FACT-${n}`));
    assert.equal(model.refusals(), 0, 'no request was too long for the model');
    const session = await onlySession(inside.store);
    assert.equal(session.messageCount, 2002);
    assert.ok((await inside.store.read((db) => countCompressions(db, session.id))) > 5);
    assert.ok(model.summaries() < 100);
    const hits = await searchMessages(inside.store, { text: 'Remember FACT 3', limit: 50 });
    assert.ok(hits.some((hit) => hit.role === 'user' && hit.snippet.includes('3: We talk')), 'what was summarised is still found');
  });

  test('goes on where it was when the process is killed while it is summarised', { timeout: 600_000 }, async () => {
    await using world = await newWorld();
    const killed = Promise.withResolvers<void>();
    const model = newModel(() => killed.promise);
    world.model.otherwise(model.answer);
    await configure(world);
    const texts = numbers(1, 60).map(message);
    {
      await using first = await startOutside(world);
      for (const text of texts) await world.say(text);
      await until(() => model.summaries() > 0, 'a summary to be asked for', 120_000);
      await until(() => peek(world, async (store) => (await outboxRows(store)).every((row) => row.state === 'sent')), 'what was answered to be recorded');
      await first.kill();
      killed.resolve();
    }
    await using _second = await startOutside(world);
    await until(() => world.shown().length >= texts.length, 'every answer', 120_000);
    assert.deepEqual(factsIn(await talk(world, 'What do you remember?')), ['FACT-3', 'FACT-53']);
    assert.equal(world.shown().length, texts.length + 1, 'each was answered once');
    assert.equal(model.refusals(), 0);
  });

  test('is shortened when the model can read less than it was said to', async () => {
    await using world = await newWorld();
    const model = newModel();
    world.model.otherwise(model.answer);
    await configure(world, 64_000);
    await using inside = await startInside(world);
    const texts = numbers(1, 60).map(message);
    await talk(world, ...texts);
    assert.deepEqual(factsIn(await talk(world, 'What do you remember?')), ['FACT-3', 'FACT-53']);
    assert.ok(model.refusals() > 0);
    assert.ok(world.shown().every((shown) => !shown.includes('⚠️')));
    assert.ok((await inside.store.read(async (db) => countCompressions(db, (await onlySession(inside.store)).id))) > 0);
  });

  test('is summarised when somebody asks, and says how much room there is', async () => {
    await using world = await newWorld();
    const model = newModel();
    world.model.otherwise(model.answer);
    await configure(world, 64_000);
    await using _inside = await startInside(world);
    await talk(world, ...numbers(1, 12).map(message));
    assert.match(await talk(world, '/context'), /Window 64k tokens\nUsed about \d+ tokens[\s\S]*Summarised not yet/);
    assert.match(await talk(world, '/compress here 2'), /Summarised: from 24 messages, about \d+ tokens to [678] messages, about \d+ tokens/);
    assert.equal(model.summaries(), 1);
    assert.match(await talk(world, '/context'), /Summarised once, last just now/);
    assert.deepEqual(factsIn(await talk(world, 'What do you remember?')), ['FACT-3']);
    assert.match(await talk(world, '/undo'), /Took back the last exchange, from “What do you remember/);
  });

  test('that was brought in from elsewhere is summarised in pieces before the model is asked', async () => {
    await using world = await newWorld();
    const model = newModel();
    world.model.otherwise(model.answer);
    await configure(world);
    await using inside = await startInside(world);
    await talk(world, message(1));
    const { id } = await onlySession(inside.store);
    await inside.store.write(async (tx) => {
      for (const n of numbers(2, 400)) {
        await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: message(n) });
        await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'assistant', content: `re: ${message(n)}` });
      }
    });
    assert.deepEqual(factsIn(await talk(world, 'What do you remember?')), numbers(1, 401).filter(hasFact).map((n) => `FACT-${n}`));
    assert.equal(model.refusals(), 0);
    assert.ok(model.summaries() > 3);
  });

  test('is summarised once when the process is killed in the middle of what somebody asked for', async () => {
    await using world = await newWorld();
    const killed = Promise.withResolvers<void>();
    const model = newModel(() => killed.promise);
    world.model.otherwise(model.answer);
    await configure(world);
    {
      await using first = await startOutside(world);
      await talk(world, ...numbers(1, 12).map(message));
      await until(() => peek(world, async (store) => (await outboxRows(store)).every((row) => row.state === 'sent')), 'what was answered to be recorded');
      await world.say('/compress');
      await until(() => model.summaries() > 0, 'a summary to be asked for', 120_000);
      await first.kill();
      killed.resolve();
    }
    await using _second = await startOutside(world);
    await until(() => world.shown().some((shown) => shown.includes('Summarised: from 24 messages')), 'the figures');
    assert.deepEqual(factsIn(await talk(world, 'What do you remember?')), ['FACT-3']);
    assert.equal(world.shown().length, 14);
  });
});
