import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Question } from '../../../core/question.ts';
import { elicit, elicitVisit } from './elicit.ts';

type Properties = Parameters<typeof elicit>[0]['requestedSchema']['properties'];

const form = (properties: Properties, required: readonly string[] = []): Parameters<typeof elicit>[0] => ({ mode: 'form', message: 'Please say', requestedSchema: { type: 'object', properties, required: [...required] } });

/** A person who gives these answers one after the other; an object instead of a text is what happened instead of an answer. */
const person = (...answers: readonly (string | Answer)[]) => {
  const asked: Question[] = [];
  const left = [...answers];
  return {
    asked,
    interview: {
      server: 'github',
      timeoutMs: 1_000,
      ask: async (question: Question): Promise<Answer> => {
        asked.push(question);
        const next = left.shift();
        assert.ok(next !== undefined, `nobody expected the question ${question.text}`);
        return typeof next === 'string' ? { type: 'answered', value: next, by: '7' } : next;
      },
    },
  };
};

test('each field is asked for in turn, and the answers arrive in the types that the server wants', async () => {
  const { asked, interview } = person('Ada', '36', '1,5', 'yes', 'b', '1, Third');
  const answer = await elicit(
    form(
      {
        name: { type: 'string', title: 'Name' },
        age: { type: 'integer' },
        share: { type: 'number' },
        sure: { type: 'boolean' },
        pick: { type: 'string', enum: ['a', 'b'] },
        some: { type: 'array', items: { anyOf: [{ const: 'one', title: 'First' }, { const: 'three', title: 'Third' }] } },
      },
      ['name', 'age', 'share', 'sure', 'pick', 'some'],
    ),
    interview,
  );
  assert.deepEqual(answer, { action: 'accept', content: { name: 'Ada', age: 36, share: 1.5, sure: true, pick: 'b', some: ['one', 'three'] } });
  assert.equal(asked.length, 6);
  assert.ok(asked.every(({ text, answerer }) => text.includes('**github** asks: Please say') && answerer === 'asker'));
  assert.deepEqual(asked[4]?.options.map(({ label }) => label), ['a', 'b', 'Decline']);
});

test('what has a default or is not needed can be skipped; what was skipped without a default is left out', async () => {
  const { asked, interview } = person('Skip', 'skip', 'hermes:skip');
  const answer = await elicit(form({ colour: { type: 'string', default: 'green' }, note: { type: 'string' }, sure: { type: 'boolean', default: true } }), interview);
  assert.deepEqual(answer, { action: 'accept', content: { colour: 'green', sure: true } });
  assert.match(asked[0]?.text ?? '', /Write `skip` to use green, or `decline`/);
  assert.match(asked[1]?.text ?? '', /Write `skip` to leave it out/);
  assert.deepEqual(asked[2]?.options.map(({ label }) => label), ['Yes', 'No', 'Use true', 'Decline']);
});

test('what is needed cannot be skipped: the word is taken as the answer', async () => {
  const { interview } = person('skip');
  assert.deepEqual(await elicit(form({ title: { type: 'string' } }, ['title']), interview), { action: 'accept', content: { title: 'skip' } });
});

test('what is written has no buttons beside it, for a number would press one', async () => {
  const { asked, interview } = person('2');
  assert.deepEqual(await elicit(form({ count: { type: 'integer', default: 5 } }), interview), { action: 'accept', content: { count: 2 } });
  assert.deepEqual(asked[0]?.options, []);
});

test('a value that happens to be called skip or decline is a value', async () => {
  const { interview } = person('skip', 'decline');
  const choice = { type: 'string' as const, enum: ['skip', 'decline'] };
  assert.deepEqual(await elicit(form({ a: choice, b: choice }, ['a', 'b']), interview), { action: 'accept', content: { a: 'skip', b: 'decline' } });
});

test('an answer that does not fit is asked for again, and three times are enough', async () => {
  const patient = person('many', '200', '7');
  assert.deepEqual(await elicit(form({ count: { type: 'integer', maximum: 100 } }, ['count']), patient.interview), { action: 'accept', content: { count: 7 } });
  assert.match(patient.asked[1]?.text ?? '', /^That does not fit: a whole number, please/);
  assert.match(patient.asked[2]?.text ?? '', /not more than 100/);
  const lost = person('x', 'y', 'z');
  assert.deepEqual(await elicit(form({ count: { type: 'integer' } }, ['count']), lost.interview), { action: 'cancel' });
});

test('nothing is accepted that nobody accepted', async () => {
  const fields: Properties = { name: { type: 'string' } };
  assert.deepEqual(await elicit(form(fields, ['name']), person('decline').interview), { action: 'decline' });
  assert.deepEqual(await elicit(form(fields, ['name']), person({ type: 'expired' }).interview), { action: 'cancel' });
  assert.deepEqual(await elicit(form(fields, ['name']), person({ type: 'unattended' }).interview), { action: 'decline' });
  assert.deepEqual(await elicit(form({ ...fields, age: { type: 'integer' } }, ['name']), person('Ada', 'decline').interview), { action: 'decline' });
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`f${index}`, { type: 'string' as const }]));
  assert.deepEqual(await elicit(form(many), person().interview), { action: 'decline' });
});

test('a question without fields is answered with yes or no', async () => {
  assert.deepEqual(await elicit(form({}), person('accept').interview), { action: 'accept', content: {} });
  assert.deepEqual(await elicit(form({}), person('hermes:decline').interview), { action: 'decline' });
});

test('an address is shown whole with its host, and only a safe one', async () => {
  const { asked, interview } = person('accept');
  const visit = (url: string) => ({ mode: 'url' as const, message: 'Log in', elicitationId: '1', url });
  assert.deepEqual(await elicitVisit(visit('https://login.example/path?x=1'), interview), { action: 'accept' });
  assert.match(asked[0]?.text ?? '', /`login\.example`.*\nhttps:\/\/login\.example\/path\?x=1$/);
  for (const bad of ['http://plain.example', 'javascript:alert(1)', 'nonsense']) assert.deepEqual(await elicitVisit(visit(bad), person().interview), { action: 'decline' });
});

test('a server’s words are shown without tricks', async () => {
  const { asked, interview } = person('decline');
  await elicit({ ...form({ a: { type: 'string', title: 'A\u202e\nB' } }), message: `Hello\u001b[2J ${'x'.repeat(5000)}` }, interview);
  const text = asked[0]?.text ?? '';
  assert.ok(!text.includes('\u001b') && !text.includes('\u202e') && text.length < 2_000);
});
