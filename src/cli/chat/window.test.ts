import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import type { Routing } from '../../routing/options.ts';
import { findQuestionByKey, keepQuestion } from '../../store/agents/questions.ts';
import { insertInboxItem } from '../../store/messages/inbox.ts';
import { bindSession, boundSession, createSession } from '../../store/sessions/sessions.ts';
import { leaveUnanswered } from './leave-unanswered.ts';
import { keyOf, situationOf } from './situation.ts';
import { openWindow } from './window.ts';

const routing = (agent: string): Routing => ({ agents: {}, routes: [{ match: { platform: 'local' }, agent }], default_agent: 'main' });

eachStore((_engine, open) => {
  test('a window looks at the conversation with whoever answers there', async () => {
    const { store } = await open();
    const { window } = await openWindow(store, { account: 'local', routing: routing('support') }, {});
    assert.equal(keyOf(window), `agent:support:local:dm:${window.chat}`);
    assert.equal((await situationOf(store, window)).session, undefined);
    await store.write(async (tx) => {
      await createSession(tx, { id: 's1', agent: 'support', account: 'local', chatType: 'dm' });
      await bindSession(tx, { sessionKey: keyOf(window), sessionId: 's1', target: { account: 'local', chatId: window.chat, chatType: 'dm' } });
    });
    assert.equal((await situationOf(store, window)).session?.id, 's1');
  });

  test('a command that is not carried out yet, and a question of a turn until it is left unanswered, are known of their own window', async () => {
    const { store } = await open();
    const [window, other] = [{ account: 'local', chat: 'w1' }, { account: 'local', chat: 'w2' }];
    const target = { account: 'local', chatId: 'w1', chatType: 'dm' } as const;
    const question = { text: 'Which?', options: [], answerer: 'asker', timeoutMs: 60_000 } as const;
    const known = async (of: typeof window) => {
      const { asking, commanding } = await situationOf(store, of);
      return { asking, commanding };
    };
    await store.write((tx) => keepQuestion(tx, { key: 'of-command', sessionId: 's1', target, question, purpose: { type: 'command', inboxId: 1 } }));
    assert.deepEqual(await known(window), { asking: false, commanding: false }, 'a command that asks is carried out by its answer');
    await store.write((tx) => insertInboxItem(tx, { event: sampleEvent({ account: 'local', chat: { id: 'w1', type: 'dm' }, text: '/approve' }), class: 'control', decisions: [] }));
    const asked = await store.write((tx) => keepQuestion(tx, { key: 'of-turn', sessionId: 's1', turnId: 1, target, question, purpose: { type: 'call', callId: 'c1' } }));
    assert.deepEqual([await known(window), await known(other)], [{ asking: true, commanding: true }, { asking: false, commanding: false }]);
    assert.deepEqual([await leaveUnanswered(store, other), await leaveUnanswered(store, window), await leaveUnanswered(store, window)], [[], ['Which?'], []]);
    assert.equal((await known(window)).asking, false);
    assert.equal((await store.read((db) => findQuestionByKey(db, asked.question.key)))?.state, 'expired');
    assert.equal((await store.read((db) => findQuestionByKey(db, 'of-command')))?.state, 'open');
  });

  test('a conversation that is taken up again goes on in its window, also when a route has been changed since', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await createSession(tx, { id: 's1', agent: 'main', account: 'local', chatType: 'dm', title: 'Plan' });
      await bindSession(tx, { sessionKey: 'agent:main:local:dm:w1', sessionId: 's1', target: { account: 'local', chatId: 'w1', chatType: 'dm' } });
    });
    const { window, session } = await openWindow(store, { account: 'local', routing: routing('support') }, { resume: 'Plan' });
    assert.deepEqual([session?.id, window], ['s1', { account: 'local', chat: 'w1', agent: 'support' }]);
    assert.equal((await store.read((db) => boundSession(db, 'agent:support:local:dm:w1')))?.sessionId, 's1');
  });
});
