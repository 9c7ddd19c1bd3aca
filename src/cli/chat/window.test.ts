import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import type { Routing } from '../../routing/options.ts';
import { bindSession, boundSession, createSession } from '../../store/sessions.ts';
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
