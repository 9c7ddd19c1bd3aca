import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { chatInTarget } from '../migrations.ts';
import type { Store } from '../store.ts';
import { knownTarget, placesIn, placesOfOtherAgents } from './bound-places.ts';
import { bindSession, createSession, endSession } from './sessions.ts';

const bind = (store: Store, id: string, place: { chatId: string; threadId?: string; userId?: string; account?: string }): Promise<void> =>
  store.write(async (tx) => {
    const { userId, account = 'telegram', ...rest } = place;
    await createSession(tx, { id, agent: 'main', account, chatType: 'group', ...(userId !== undefined && { userId }) });
    await bindSession(tx, { sessionKey: `key:${id}`, sessionId: id, target: sampleTarget({ account, chatType: 'group', ...rest }) });
  });

eachStore((engine, open) => {
  test('the living conversations of a chat are found, with whose they are', async () => {
    const { store, pass } = await open();
    await bind(store, 's1', { chatId: '-1', userId: '7' });
    await pass(2);
    await bind(store, 's2', { chatId: '-1', threadId: '5' });
    await bind(store, 's3', { chatId: '-11' });
    await bind(store, 's4', { chatId: '-1', account: 'telegram@work' });
    await bind(store, 's5', { chatId: '-1' });
    await store.write((tx) => endSession(tx, 's5', 'new'));
    const found = await store.read((db) => placesIn(db, { account: 'telegram', chatId: '-1' }));
    assert.deepEqual(found.map(({ sessionId, userId, agent, target }) => [sessionId, userId, agent, target.threadId]).toSorted(), [['s1', '7', 'main', undefined], ['s2', null, 'main', '5']]);
  });

  test('a chat is known as it was described last, also when its conversation has ended', async () => {
    const { store } = await open();
    assert.equal(await store.read((db) => knownTarget(db, { account: 'telegram', chatId: 'it"s -1' })), undefined);
    await bind(store, 's1', { chatId: 'it"s -1' });
    await store.write((tx) => endSession(tx, 's1', 'new'));
    assert.equal((await store.read((db) => knownTarget(db, { account: 'telegram', chatId: 'it"s -1' })))?.chatType, 'group');
  });

  test('conversations of other agents at the very same place are found, and nothing from beside it', async () => {
    const { store } = await open();
    const key = (agent: string, rest = 'telegram:group:-1:7'): string => `agent:${agent}:${rest}`;
    const keys: Readonly<Record<string, string>> = { s1: key('main'), s2: key('support'), s3: key('other'), s4: key('support', 'telegram:group:-1:8'), s5: key('support', 'telegram:group:-1') };
    for (const [id, sessionKey] of Object.entries(keys)) {
      await store.write(async (tx) => {
        await createSession(tx, { id, agent: sessionKey.split(':')[1] ?? '', account: 'telegram', chatType: 'group' });
        await bindSession(tx, { sessionKey, sessionId: id, target: sampleTarget({ chatType: 'group', chatId: '-1' }) });
      });
    }
    await store.write((tx) => endSession(tx, 's3', 'new'));
    assert.deepEqual(await store.read((db) => placesOfOtherAgents(db, key('main'), { account: 'telegram', chatId: '-1' })), ['s2']);
  });

  test('an index finds the chat, however many there are', async () => {
    const { store } = await open();
    const plan = await store.write(async (db) => {
      if (engine === 'postgres') await sql`set local enable_seqscan = off`.execute(db.q);
      const { rows } = await sql<Record<string, unknown>>`${sql.raw(`explain ${engine === 'sqlite' ? 'query plan ' : ''}select target from bindings where account = 'a' and ${chatInTarget(engine)} = 'c'`)}`.execute(db.q);
      return JSON.stringify(rows);
    });
    assert.match(plan, /bindings_chat/);
  });
});
