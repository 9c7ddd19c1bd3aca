import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { claimLane, enqueueLane, turnLane } from '../lanes/lanes.ts';
import { insertInboxItem } from '../messages/inbox.ts';
import { indexNewMessages, searchMessages } from '../sessions/search.ts';
import { bindSession, boundSession, createSession, findSession } from '../sessions/sessions.ts';
import { appendMessage } from '../sessions/transcripts.ts';
import { startTurn } from '../sessions/turns.ts';
import type { Store } from '../store.ts';
import { removeSession, staleSessions } from './session-retention.ts';

const target = { account: 'telegram', chatId: '7', chatType: 'dm' } as const;

const addSession = async (store: Store, id: string, at: { readonly key: string; readonly words: string; readonly activeAtMs: number }): Promise<void> => {
  await store.write(async (tx) => {
    await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm', userId: '7' });
    await bindSession(tx, { sessionKey: at.key, sessionId: id, target });
    await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: at.words });
    await tx.q.updateTable('sessions').set({ active_at: at.activeAtMs }).where('id', '=', id).execute();
  });
};

const rowsOf = (store: Store, sessionId: string) =>
  store.read(async (db) => {
    const count = async (query: Promise<readonly unknown[]>): Promise<number> => (await query).length;
    return {
      messages: await count(db.q.selectFrom('messages').select('id').where('session_id', '=', sessionId).execute()),
      inbox: await count(db.q.selectFrom('inbox').select('id').where('session_id', '=', sessionId).execute()),
      turns: await count(db.q.selectFrom('turns').select('id').where('session_id', '=', sessionId).execute()),
      outbox: await count(db.q.selectFrom('outbox').select('id').execute()),
    };
  });

eachStore((_engine, open) => {
  test('a conversation goes with its messages, those archived too, its places, deliveries and what can be found; others keep theirs', async () => {
    const { store } = await open();
    await addSession(store, 's', { key: 'k1', words: 'marzipan once', activeAtMs: 1 });
    await addSession(store, 'other', { key: 'k2', words: 'marzipan twice', activeAtMs: 1 });
    await store.write(async (tx) => {
      for (let i = 0; i < 505; i += 1) await appendMessage(tx, { sessionId: 's', turnId: null }, { role: 'assistant', content: `marzipan ${i}` });
      await tx.q.updateTable('messages').set({ active: 0 }).where('content', '=', 'marzipan 3').execute();
      const event = { account: 'telegram', kind: 'message', nativeId: 'n1', chat: { id: '7', type: 'dm' }, sender: { id: '7', isBot: false }, text: '/status', media: [], addressed: true, mentioned: false, sentAtMs: 1 } as const;
      const inboxId = await insertInboxItem(tx, { event, class: 'control', decisions: [], place: { lane: turnLane('s'), sessionId: 's', sessionKey: 'k1' } });
      const turn = await startTurn(tx, { sessionId: 's', lane: turnLane('s'), target });
      await tx.q.updateTable('turns').set({ state: 'done' }).execute();
      const row = { lane: 'out:telegram:7', account: 'telegram', chat_id: '7', target: '{}', payload: '{}', state: 'sent', message_ids: null, error: null, created_at: 1, updated_at: 1 } as const;
      await tx.q.insertInto('outbox').values([{ ...row, key: 'a', turn_id: turn.id, inbox_id: null }, { ...row, key: 'b', turn_id: null, inbox_id: inboxId ?? null }]).execute();
      await tx.q.updateTable('inbox').set({ state: 'done' }).execute();
    });
    await indexNewMessages(store);
    assert.deepEqual(await rowsOf(store, 's'), { messages: 506, inbox: 1, turns: 1, outbox: 2 });
    assert.deepEqual(await removeSession(store, 's'), { type: 'removed', messages: 506, processIds: [] });
    assert.deepEqual(await rowsOf(store, 's'), { messages: 0, inbox: 0, turns: 0, outbox: 0 });
    assert.deepEqual((await searchMessages(store, { text: 'marzipan', limit: 9 })).map(({ sessionId }) => sessionId), ['other']);
    const [gone, bound, kept] = await store.read(async (db) => [await findSession(db, 's'), await boundSession(db, 'k1'), await boundSession(db, 'k2')] as const);
    assert.deepEqual([gone, bound, kept?.sessionId], [undefined, undefined, 'other']);
    assert.deepEqual(await removeSession(store, 's'), { type: 'not_stale' });
  });

  test('one in which a turn runs, messages wait or somebody has spoken since is left as it is', async () => {
    const { store } = await open();
    await addSession(store, 's', { key: 'k', words: 'hello', activeAtMs: 1000 });
    await store.write((tx) => enqueueLane(tx, { lane: turnLane('s'), kind: 'turn' }));
    assert.deepEqual(await removeSession(store, 's'), { type: 'at_work', why: 'waiting' });
    await store.write((tx) => claimLane(tx, { lane: turnLane('s'), owner: 'n', leaseMs: 60_000 }));
    assert.deepEqual(await removeSession(store, 's', 2000), { type: 'at_work', why: 'running' });
    assert.deepEqual(await removeSession(store, 's', 1000), { type: 'not_stale' });
    assert.deepEqual((await rowsOf(store, 's')).messages, 1);
  });

  test('the longest silent come first, page by page, of an agent or an account where that is wanted', async () => {
    const { store } = await open();
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const [i, id] of ids.entries()) await addSession(store, id, { key: `k${i}`, words: 'w', activeAtMs: i === 2 ? 1 : i * 10 });
    const page = (limit: number, after?: { id: string; activeAtMs: number }) => store.read((db) => staleSessions(db, { beforeMs: 35 }, { limit, after }));
    const first = await page(2);
    const second = await page(2, first.at(-1));
    assert.deepEqual([...first, ...second].map(({ id }) => id), [ids[0], ids[2], ids[1], ids[3]]);
    assert.deepEqual(await store.read((db) => staleSessions(db, { beforeMs: 35, agent: 'none' }, { limit: 9 })), []);
    assert.equal((await store.read((db) => staleSessions(db, { beforeMs: 35, account: 'telegram' }, { limit: 9 }))).length, 4);
  });
});
