import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { getHandoffState } from '../store/sessions/handoffs.ts';
import { bindSession, createSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { anybody, begin, dispatchTo, talk } from './command-call.test-support.ts';

/** A topic of a group in which person 7 has a conversation of their own, and the direct chat of the owner. */
const plant = async (store: Store): Promise<void> => {
  await begin(store);
  await talk(store, 'one');
  await store.write(async (tx) => {
    await createSession(tx, { id: 's2', agent: 'main', account: 'telegram', chatType: 'group', userId: '7' });
    await bindSession(tx, { sessionKey: 'agent:main:telegram:group:-5:3:7', sessionId: 's2', target: sampleTarget({ chatId: '-5', chatType: 'group', threadId: '3', replyTo: '17' }) });
    await createSession(tx, { id: 's3', agent: 'main', account: 'telegram', chatType: 'dm', userId: '1' });
    await bindSession(tx, { sessionKey: 'agent:main:telegram:dm:1', sessionId: 's3', target: sampleTarget({ chatId: '1' }) });
  });
};

const stateOf = async (store: Store): Promise<string | null | undefined> => (await store.read((db) => getHandoffState(db, 's1')))?.state;

eachStore((_engine, open) => {
  test('whoever decides only for themselves cannot put a conversation into somebody else’s place', async () => {
    const { store } = await open();
    await plant(store);
    for (const place of ['telegram:1', 'telegram', 'terminal', 'telegram:-5', 'slack:D1', 'telegram:#general']) {
      const { result } = await dispatchTo(store, `/handoff ${place}`, { access: anybody });
      assert.match(result.type === 'answer' ? result.text : '', /^⛔ .*only admins/, place);
      assert.equal(await stateOf(store), null, place);
    }
  });

  test('everybody may go on in another place of their own, and an admin anywhere', async () => {
    const { store } = await open();
    await plant(store);
    await dispatchTo(store, '/handoff telegram:-5:3', { access: anybody });
    assert.equal(await stateOf(store), 'pending');
    await store.write((tx) => tx.q.deleteFrom('handoffs').execute());
    await dispatchTo(store, '/handoff telegram:1');
    assert.equal(await stateOf(store), 'pending');
  });
});
