import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../../core/message.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { keepSpoken, listChannels } from '../accounts/channels.ts';
import { findHome, setHome } from './homes.ts';
import { moveChatPlaces } from './move-chat.ts';
import type { MovingChat } from './move-chat.ts';
import { claimedPlace, claimPlace } from './place-claims.ts';
import { keepQuestion, openQuestions } from '../agents/questions.ts';
import { bindSession, bindingsOf, boundSession, createSession, endSession } from './sessions.ts';
import type { Store } from '../store.ts';

const move: MovingChat = { account: 'matrix', from: '!old', to: '!new', withoutThreads: true };

const at = (chatId: string, threadId?: string): Target => ({ account: 'matrix', chatId, chatType: 'group', ...(threadId !== undefined && { threadId }) });

/** A conversation in a place, which answers a message there. */
const begin = (store: Store, id: string, rest: string, target: Target): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id, agent: 'main', account: 'matrix', chatType: 'group' });
    await bindSession(tx, { sessionKey: `agent:main:matrix:group:${rest}`, sessionId: id, target: { ...target, replyTo: '$9' } });
  });

const bound = async (store: Store, rest: string): Promise<string | undefined> => (await store.read((db) => boundSession(db, `agent:main:matrix:group:${rest}`)))?.sessionId;

const moveAll = (store: Store, more: Partial<MovingChat> = {}) => store.write((tx) => moveChatPlaces(tx, { ...move, ...more }));

eachStore((_engine, open) => {
  test('the conversations of a chat go on in the one that has taken its place, and who still speaks in the old one continues the same', async () => {
    const { store } = await open();
    await begin(store, 's1', '!old:@alice', at('!old'));
    await begin(store, 's2', '!old:@bob', at('!old'));
    await begin(store, 'other', '!older:@alice', at('!older'));
    assert.deepEqual(await moveAll(store), { moved: 2, stayed: 0 });
    assert.deepEqual(await moveAll(store), { moved: 0, stayed: 0 }, 'once');
    assert.deepEqual([await bound(store, '!new:@alice'), await bound(store, '!new:@bob'), await bound(store, '!old:@alice'), await bound(store, '!newer:@alice')], ['s1', 's2', 's1', undefined]);
    const places = await store.read((db) => bindingsOf(db, 's1'));
    assert.deepEqual(places.find(({ target }) => target.chatId === '!new')?.target, at('!new'), 'without the message of the old chat that it answered');
  });

  test('what the new chat has begun itself stays, and so do threads that do not exist there; only living conversations count', async () => {
    const { store } = await open();
    await begin(store, 's1', '!old:@alice', at('!old'));
    await begin(store, 's2', '!new:@alice', at('!new'));
    await begin(store, 't1', '!old:$t1', at('!old', '$t1'));
    await begin(store, 't2', '!old:$t2', at('!old', '$t2'));
    await store.write((tx) => endSession(tx, 't2', 'new'));
    assert.deepEqual(await moveAll(store), { moved: 0, stayed: 2 });
    assert.deepEqual([await bound(store, '!new:@alice'), await bound(store, '!new:$t1')], ['s2', undefined]);
    assert.deepEqual(await moveAll(store, { withoutThreads: false }), { moved: 1, stayed: 1 });
    assert.equal(await bound(store, '!new:$t1'), 't1');
  });

  test('questions, the home, names and conversations that wait follow', async () => {
    const { store } = await open();
    await begin(store, 's1', '!old:@alice', at('!old'));
    await store.write(async (tx) => {
      await keepQuestion(tx, { key: 'q', sessionId: 's1', target: { ...at('!old', '$t'), replyTo: '$9' }, question: { text: 'Sure?', options: [], answerer: 'asker', timeoutMs: 60_000 }, purpose: { type: 'call', callId: 'c' } });
      await setHome(tx, { account: 'matrix', target: at('!old'), name: 'Home', setBy: '@alice' });
      await claimPlace(tx, { account: 'matrix', chatId: '!old' }, { sessionId: 's1', lasting: false });
      await keepSpoken(tx, [{ account: 'matrix', chatId: '!old', name: 'Team', chatType: 'group', spokenAtMs: 5 }]);
    });
    await moveAll(store);
    const [question] = await store.read((db) => openQuestions(db, { account: 'matrix', chatId: '!new' }));
    assert.deepEqual(question?.target, at('!new'));
    assert.deepEqual((await store.read((db) => findHome(db, 'matrix')))?.target, at('!new'));
    assert.equal((await store.read((db) => claimedPlace(db, { account: 'matrix', chatId: '!new' })))?.sessionId, 's1');
    assert.equal(await store.read((db) => claimedPlace(db, { account: 'matrix', chatId: '!old' })), undefined);
    assert.deepEqual((await store.read((db) => listChannels(db, { limit: 5 }))).map(({ chatId, name }) => [chatId, name]), [['!new', 'Team']]);
  });
});
