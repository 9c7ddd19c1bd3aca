import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { platforms } from '../platforms/registry.ts';
import { keepQuestion } from '../store/agents/questions.ts';
import type { Delivery } from '../store/messages/outbox.ts';
import { enqueueQuestion, enqueueSettled, questionMessageKey } from './question-message.ts';

const discord = platforms.find(({ name }) => name === 'discord') ?? assert.fail('no platform');

eachStore((_engine, open) => {
  test('a question of several messages is settled in the one that has its buttons', async () => {
    const { store } = await open();
    const text = Array.from({ length: 60 }, (_, i) => `${i + 1}. ${'a line of the question '.repeat(2)}`).join('\n');
    const { question } = await store.write(async (tx) => {
      const options = [{ label: 'Yes', value: 'yes' }, { label: 'No', value: 'no' }];
      const kept = await keepQuestion(tx, { key: 'a', sessionId: 's1', target: sampleTarget({ account: 'discord' }), question: { text, options, answerer: 'asker', timeoutMs: 60_000 }, purpose: { type: 'call', callId: 'c1' } });
      await enqueueQuestion(tx, discord, kept.question);
      await enqueueSettled(tx, kept.question, '➜ Yes');
      return kept;
    });
    const sent = (await store.read((db) => db.q.selectFrom('outbox').select('payload').orderBy('id').execute())).map(({ payload }) => JSON.parse(payload) as Delivery);
    const shown = sent.filter(({ changes }) => changes === undefined);
    const [settled, ...others] = sent.filter(({ changes }) => changes !== undefined);
    assert.ok(shown.length > 1 && others.length === 0);
    assert.deepEqual(shown.map(({ message }) => message.choices !== undefined), shown.map((_, i) => i === shown.length - 1));
    assert.equal(shown.at(-1)?.message.key, questionMessageKey(question));
    assert.equal(settled?.changes, questionMessageKey(question));
    assert.equal(settled?.message.text, `${shown.at(-1)?.message.text}\n\n➜ Yes`);
  });
});
