import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import type { Question } from '../../core/question.ts';
import type { Store } from '../store.ts';
import { answeredBy, answerQuestion, closeQuestion, findQuestion, findQuestionByKey, keepQuestion, openQuestions, openTurnQuestions, overdueQuestions, questionCode, questionId, unansweredCalls, useAnswer } from './questions.ts';
import type { NewQuestion, StoredQuestion } from './questions.ts';

const question: Question = { text: 'Shall I?', options: [{ label: 'Yes', value: 'yes' }], answerer: 'asker', timeoutMs: 100 };
const chat = { account: 'telegram', chatId: '42' };

const fresh = (more: Partial<NewQuestion> = {}): NewQuestion => ({
  key: 'turn:1:c:1',
  sessionId: 's',
  turnId: 1,
  target: { ...chat, chatType: 'dm' },
  askerId: '7',
  question: { ...question, timeoutMs: 60_000 },
  purpose: { type: 'call', callId: 'c' },
  ...more,
});

const ask = async (store: Store, more: Partial<NewQuestion> = {}): Promise<StoredQuestion> => (await store.write((tx) => keepQuestion(tx, fresh(more)))).question;

test('a code names a question, and nothing else is one', () => {
  for (const id of [1, 35, 36, 123_456_789]) assert.equal(questionId(questionCode(id)), id);
  for (const code of ['', '-1', 'a b', '1.5', 'zzzzzzzzzzz']) assert.equal(questionId(code), undefined, code);
});

eachStore((_engine, open) => {
  test('one cause asks once', async () => {
    const { store } = await open();
    const first = await store.write((tx) => keepQuestion(tx, fresh()));
    const again = await store.write((tx) => keepQuestion(tx, fresh({ question: { ...question, text: 'Something else?' } })));
    assert.deepEqual([first.isNew, again.isNew], [true, false]);
    assert.equal(again.question.id, first.question.id);
    assert.equal(again.question.question.text, 'Shall I?');
  });

  test('of several answers exactly one counts, and it is taken once', async () => {
    const { store, another } = await open();
    const asked = await ask(store);
    const stores = [store, await another()];
    const counted = await Promise.all(stores.map((each, i) => each.write((tx) => answerQuestion(tx, asked, { value: `v${i}`, by: `${i}`, inboxId: 10 + i }))));
    assert.deepEqual(counted.toSorted(), [false, true]);
    const winner = counted.indexOf(true);
    const found = await store.read((db) => findQuestionByKey(db, asked.key));
    assert.deepEqual(found?.answer, { value: `v${winner}`, by: `${winner}`, byName: null });
    assert.equal((await store.read((db) => answeredBy(db, 10 + winner)))?.id, asked.id);
    assert.equal(await store.read((db) => answeredBy(db, 11 - winner)), undefined);
    const taken = await Promise.all(stores.map((each) => each.write((tx) => useAnswer(tx, asked.id))));
    assert.deepEqual(taken.toSorted(), [false, true]);
    assert.equal(await store.read((db) => answeredBy(db, 10 + winner)), undefined);
  });

  test('whoever waits is told when it is answered, not when the answer does not count', async () => {
    const { store } = await open();
    const told: string[] = [];
    using _listening = store.listen('question', (key) => told.push(key));
    const asked = await ask(store);
    await store.write((tx) => answerQuestion(tx, asked, { value: 'yes', by: '7' }));
    await store.write((tx) => answerQuestion(tx, asked, { value: 'no', by: '7' }));
    const last = Promise.withResolvers<void>();
    using _end = store.listen('question', (key) => key === 'end' && last.resolve());
    await store.write(async (tx) => tx.notify('question', 'end'));
    await last.promise;
    assert.deepEqual(told.filter((key) => key !== 'end'), [asked.key]);
  });

  test('after its time nobody can answer', async () => {
    const { store, pass } = await open();
    const asked = await ask(store, { question: { ...question, timeoutMs: 20 } });
    await pass(40);
    assert.equal(await store.write((tx) => answerQuestion(tx, asked, { value: 'yes', by: '7' })), false);
    assert.deepEqual(await store.read((db) => openQuestions(db, chat)), []);
    assert.deepEqual(await store.read((db) => overdueQuestions(db, 10)), [], 'a turn closes its own');
    const { turnId: _, ...ofCommand } = fresh({ key: 'command:5', purpose: { type: 'command', inboxId: 5 }, question: { ...question, timeoutMs: 1 } });
    const { question: command } = await store.write((tx) => keepQuestion(tx, ofCommand));
    await pass(20);
    assert.deepEqual((await store.read((db) => overdueQuestions(db, 10))).map((each) => each.id), [command.id]);
    assert.equal(await store.write((tx) => closeQuestion(tx, command.id, 'expired')), true);
    assert.equal(await store.write((tx) => closeQuestion(tx, command.id, 'withdrawn')), false);
  });

  test('a question is found in its chat only', async () => {
    const { store } = await open();
    const asked = await ask(store);
    await ask(store, { key: 'elsewhere', target: { account: 'telegram', chatId: '43', chatType: 'dm' }, turnId: 2 });
    assert.deepEqual((await store.read((db) => openQuestions(db, chat))).map((each) => each.id), [asked.id]);
    assert.equal(await store.read((db) => findQuestion(db, { account: 'telegram', chatId: '43', id: asked.id })), undefined);
    assert.equal(await store.read((db) => findQuestion(db, { account: 'telegram@work', chatId: '42', id: asked.id })), undefined);
    assert.equal((await store.read((db) => findQuestion(db, { ...chat, id: asked.id })))?.key, asked.key);
    assert.deepEqual((await store.read((db) => openTurnQuestions(db, 2))).map((each) => each.key), ['elsewhere']);
  });

  test('a call may be made again until it has taken an answer', async () => {
    const { store } = await open();
    await ask(store, { key: 'a', purpose: { type: 'call', callId: 'waiting' } });
    const had = await ask(store, { key: 'b', purpose: { type: 'call', callId: 'had' } });
    await ask(store, { key: 'c', purpose: { type: 'call', callId: 'had' } });
    const answered = await ask(store, { key: 'd', purpose: { type: 'call', callId: 'answered' } });
    for (const each of [had, answered]) await store.write((tx) => answerQuestion(tx, each, { value: 'yes', by: '7' }));
    await store.write((tx) => useAnswer(tx, had.id));
    assert.deepEqual([...(await store.read((db) => unansweredCalls(db, 1)))].toSorted(), ['answered', 'waiting']);
  });

  test('a call that had begun something when it asked is not made again', async () => {
    const { store } = await open();
    const asked = await ask(store, { key: 'a', purpose: { type: 'call', callId: 'waiting' } });
    await ask(store, { key: 'b', purpose: { type: 'call', callId: 'begun' }, question: { ...asked.question, begun: true } });
    assert.deepEqual([...(await store.read((db) => unansweredCalls(db, 1)))], ['waiting']);
  });
});
