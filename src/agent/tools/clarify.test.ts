import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Question } from '../../core/question.ts';
import { manualClock } from '../../lib/clock.ts';
import { somewhere } from '../turn.test-support.ts';
import { clarifyTool } from './clarify.ts';
import { ToolError } from './contract.ts';

/** Calls the tool for a person who gives these answers. */
const ask = async (args: Record<string, unknown>, ...answers: readonly (string | Answer)[]) => {
  const asked: Question[] = [];
  const left = [...answers];
  const context = {
    sessionId: 's',
    turnId: 't',
    callId: 'c',
    place: somewhere,
    clock: manualClock(),
    asyncDelivery: true,
    alive: () => undefined,
    ask: async (question: Question): Promise<Answer> => {
      asked.push(question);
      const next = left.shift();
      assert.ok(next !== undefined, 'nobody expected a question');
      return typeof next === 'string' ? { type: 'answered', value: next, by: '7' } : next;
    },
  };
  const text = await clarifyTool(() => 60).run(args, context, new AbortController().signal);
  return { asked, result: JSON.parse(text) as { answers: { question: string; answer: unknown }[]; note?: string; unanswered?: string[] } };
};

test('an open question is answered in the person’s own words', async () => {
  const { asked, result } = await ask({ question: 'Which colour?' }, 'a warm green');
  assert.deepEqual(result, { answers: [{ question: 'Which colour?', answer: 'a warm green' }] });
  assert.deepEqual(asked, [{ text: '❓ Which colour?', options: [], freeText: true, answerer: 'asker', timeoutMs: 60_000 }]);
});

test('choices can be pressed, typed, or numbered, the first is shown as the recommendation, and other words are an answer too', async () => {
  const args = { question: 'Which?', choices: ['Red', 'Blue'] };
  const { asked, result } = await ask(args, 'Blue');
  assert.deepEqual(asked[0]?.options.map(({ label, value }) => [label, value]), [['Red (recommended)', 'Red'], ['Blue', 'Blue']]);
  assert.equal(result.answers[0]?.answer, 'Blue');
  for (const [typed, meant] of [['2', 'Blue'], ['red (Recommended)', 'Red'], ['BLUE', 'Blue'], ['3', '3'], ['neither of them', 'neither of them']]) {
    assert.equal((await ask(args, typed ?? '')).result.answers[0]?.answer, meant);
  }
});

test('where several choices may be taken, numbers and names are read as a list', async () => {
  const args = { question: 'Which?', choices: ['Red', 'Blue', 'Dark green'], multi_select: true };
  const { asked, result } = await ask(args, '1, dark green');
  assert.deepEqual(asked[0]?.options, []);
  assert.match(asked[0]?.text ?? '', /\n1\. Red \(recommended\)\n2\. Blue\n3\. Dark green\n/);
  assert.deepEqual(result.answers[0]?.answer, ['Red', 'Dark green']);
  assert.deepEqual((await ask(args, '3 1 1')).result.answers[0]?.answer, ['Dark green', 'Red']);
  assert.equal((await ask(args, 'whatever, really')).result.answers[0]?.answer, 'whatever, really');
});

test('several questions are asked one after the other', async () => {
  const { asked, result } = await ask({ questions: [{ question: 'Who?' }, { question: 'When?', choices: ['Now', 'Later'] }] }, 'Ada', '2');
  assert.equal(asked.length, 2);
  assert.deepEqual(result.answers, [{ question: 'Who?', answer: 'Ada' }, { question: 'When?', answer: 'Later' }]);
});

test('without an answer the agent is told to decide by itself, and nothing more is asked', async () => {
  const late = await ask({ questions: [{ question: 'Who?' }, { question: 'When?' }, { question: 'Where?' }] }, 'Ada', { type: 'expired' });
  assert.deepEqual(late.result.answers, [{ question: 'Who?', answer: 'Ada' }]);
  assert.deepEqual(late.result.unanswered, ['When?', 'Where?']);
  assert.match(late.result.note ?? '', /did not answer in time\. Decide by yourself/);
  const alone = await ask({ question: 'Who?' }, { type: 'unattended' });
  assert.match(alone.result.note ?? '', /nobody here who could be asked\. Decide by yourself/);
});

test('a call asks one thing or several, within limits', async () => {
  const wrong: Record<string, unknown>[] = [{}, { question: 'a', questions: [{ question: 'b' }] }, { question: 'a', choices: ['1', '2', '3', '4', '5'] }, { questions: Array.from({ length: 6 }, () => ({ question: 'x' })) }, { questions: [] }];
  for (const args of wrong) await assert.rejects(ask(args), (error) => error instanceof ToolError && error.code === 'bad_arguments', JSON.stringify(args));
});

test('no time means a week', async () => {
  let timeoutMs = 0;
  const context = { sessionId: 's', turnId: 't', callId: 'c', place: somewhere, clock: manualClock(), asyncDelivery: true, alive: () => undefined, ask: async (question: Question): Promise<Answer> => ((timeoutMs = question.timeoutMs), { type: 'expired' }) };
  await clarifyTool(() => 0).run({ question: 'Still there?' }, context, new AbortController().signal);
  assert.equal(timeoutMs, 604_800_000);
});
