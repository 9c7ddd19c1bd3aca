import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { approvalQuestion } from '../../agent/approvals/approval-question.ts';
import type { Question } from '../../core/question.ts';
import { findQuestionByKey, keepQuestion } from '../../store/agents/questions.ts';
import { runEventsAfter } from '../../store/api/api-run-events.ts';
import { insertInboxItem, joinTurn } from '../../store/messages/inbox.ts';
import type { Store } from '../../store/store.ts';
import { answerRun, choicesOf } from './answer-run.ts';

const target = { account: 'api_server', chatId: 'c', chatType: 'dm' } as const;
const approval = approvalQuestion({ tool: 'terminal', subject: 'rm -r x', reasons: ['deletes files'], pattern: 'rm -r' }, 60_000);
const once = approvalQuestion({ tool: 'terminal', subject: 'rm -r x', reasons: ['deletes files'], pattern: 'rm -r', widest: 'once' }, 60_000);
const colour: Question = { text: 'Which?', options: [{ label: 'Blue (recommended)', value: 'Blue' }, { label: 'Red', value: 'Red' }], freeText: true, answerer: 'asker', timeoutMs: 60_000 };
const strict: Question = { ...colour, freeText: false };

/** A run that is under way as turn 7 and asks. */
const ask = (store: Store, questions: Readonly<Record<string, Question>>): Promise<void> =>
  store.write(async (tx) => {
    const event = { account: 'api_server', kind: 'message', nativeId: 'run_1', chat: { id: 'c', type: 'dm' }, sender: { id: 'k', isBot: false }, text: 'x', media: [], addressed: true, mentioned: false, sentAtMs: 0 } as const;
    const id = await insertInboxItem(tx, { event, class: 'chat', decisions: [], place: { lane: 'turn:s', sessionId: 's', sessionKey: '' } });
    await joinTurn(tx, [id ?? 0], 7);
    for (const [key, question] of Object.entries(questions)) await keepQuestion(tx, { key, sessionId: 's', turnId: 7, target, question, purpose: { type: 'call', callId: key } });
  });

const said = { runId: 'run_1', callerId: 'k', all: false, mayAlways: false };
const answer = (store: Store, more: Partial<Parameters<typeof answerRun>[1]> & { choice: string }) => store.write((tx) => answerRun(tx, { ...said, ...more }));
const valueOf = async (store: Store, key: string): Promise<string | undefined> => (await store.read((db) => findQuestionByKey(db, key)))?.answer?.value;

test('what can be answered is what was offered, and for good only by whom that is allowed', () => {
  assert.deepEqual(choicesOf(approval, true), ['once', 'session', 'always', 'deny']);
  assert.deepEqual(choicesOf(approval, false), ['once', 'session', 'deny']);
  assert.deepEqual(choicesOf(once, true), ['once', 'deny']);
  assert.deepEqual(choicesOf(colour, false), ['Blue', 'Red']);
});

eachStore((_engine, open) => {
  test('an approval takes its words and their synonyms, bound to what was asked', async () => {
    for (const [choice, value] of [['Approved', /^once:/], ['session', /^session:/], ['reject', /^deny$/]] as const) {
      const { store } = await open();
      await ask(store, { q: approval });
      assert.equal((await answer(store, { choice })).type, 'answered');
      assert.match((await valueOf(store, 'q')) ?? '', value);
    }
  });

  test('a question takes its options, their labels, and own words only where they are wanted', async () => {
    const { store } = await open();
    await ask(store, { one: colour, two: colour, three: strict });
    await answer(store, { choice: 'Blue (recommended)' });
    await answer(store, { choice: 'the green one' });
    assert.deepEqual(await answer(store, { choice: 'the green one' }), { type: 'refused', why: 'invalid_choice' });
    assert.deepEqual([await valueOf(store, 'one'), await valueOf(store, 'two'), await valueOf(store, 'three')], ['Blue', 'the green one', undefined]);
  });

  test('everything that is open is answered together or not at all, and each answer is told', async () => {
    const { store } = await open();
    await ask(store, { one: approval, two: once });
    assert.deepEqual(await answer(store, { choice: 'session', all: true }), { type: 'refused', why: 'invalid_choice' });
    assert.equal(await valueOf(store, 'one'), undefined);
    assert.deepEqual(await answer(store, { choice: 'deny', all: true }), { type: 'answered', choice: 'deny', resolved: 2 });
    assert.equal((await store.read((db) => runEventsAfter(db, { runId: 'run_1', seq: 0, limit: 10 }))).length, 2);
    assert.deepEqual(await answer(store, { choice: 'deny' }), { type: 'refused', why: 'not_pending' });
  });

  test('a run that does not run is not answered', async () => {
    const { store } = await open();
    assert.deepEqual(await answer(store, { choice: 'once' }), { type: 'refused', why: 'not_active' });
  });
});
