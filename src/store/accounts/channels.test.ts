import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InboundEvent } from '../../core/message.ts';
import { sampleEvent, sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { findChannel, forgetSilentChannels, keepSpoken, listChannels, newestSpoken, replaceListed, spokenFrom } from './channels.ts';
import type { SpokenChannel } from './channels.ts';
import { insertInboxItem } from '../messages/inbox.ts';
import { turnLane } from '../lanes/lanes.ts';
import { bindSession, createSession } from '../sessions/sessions.ts';
import type { Store } from '../store.ts';

const spoken = (chatId: string, more: Partial<SpokenChannel> = {}): SpokenChannel => ({ account: 'telegram', chatId, chatType: 'group', spokenAtMs: 1000, ...more });

/** A conversation in a place, in which somebody has said something. */
const speak = (store: Store, sessionId: string, event: InboundEvent): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id: sessionId, agent: 'main', account: event.account, chatType: event.chat.type });
    const target = sampleTarget({ account: event.account, chatId: event.chat.id, chatType: event.chat.type, ...(event.chat.threadId !== undefined && { threadId: event.chat.threadId }), ...(event.chat.scopeId !== undefined && { scopeId: event.chat.scopeId }) });
    await bindSession(tx, { sessionKey: `key:${sessionId}`, sessionId, target });
    await insertInboxItem(tx, { event, class: 'chat', decisions: [], place: { lane: turnLane(sessionId), sessionId, sessionKey: `key:${sessionId}` } });
    await tx.q.updateTable('inbox').set({ state: 'done' }).where('session_id', '=', sessionId).execute();
  });

eachStore((_engine, open) => {
  test('what people have spoken in is listed, the latest first, and keeps the name that was known', async () => {
    const { store } = await open();
    await store.write((tx) => keepSpoken(tx, [spoken('-1', { name: 'Team', scopeId: 'w' }), spoken('-2', { spokenAtMs: 2000, threadId: '5', name: 'Releases' })]));
    await store.write((tx) => keepSpoken(tx, [spoken('-1', { spokenAtMs: 3000 })]));
    assert.deepEqual(await store.read((db) => listChannels(db, { limit: 10 })), [
      { account: 'telegram', chatId: '-1', name: 'Team', chatType: 'group', scopeId: 'w', listed: false, spokenAtMs: 3000 },
      { account: 'telegram', chatId: '-2', threadId: '5', name: 'Releases', chatType: 'group', listed: false, spokenAtMs: 2000 },
    ]);
    assert.deepEqual((await store.read((db) => listChannels(db, { account: 'slack', limit: 10 }))).length, 0);
    assert.equal((await store.read((db) => findChannel(db, { account: 'telegram', chatId: '-2' })))?.name, 'Releases');
    assert.equal(await store.read((db) => findChannel(db, { account: 'telegram', chatId: '-3' })), undefined);
  });

  test('what a platform names is taken over, wins over what was heard, and goes when it is not named any more', async () => {
    const { store } = await open();
    await store.write((tx) => keepSpoken(tx, [spoken('C1', { account: 'slack', name: 'old name' })]));
    await store.write((tx) => replaceListed(tx, 'slack', [{ chatId: 'C1', name: 'general', chatType: 'channel', scopeName: 'Acme' }, { chatId: 'C2', name: 'random', chatType: 'channel' }]));
    await store.write((tx) => keepSpoken(tx, [spoken('C1', { account: 'slack', name: 'heard', spokenAtMs: 2000 })]));
    const names = async (): Promise<unknown> => (await store.read((db) => listChannels(db, { account: 'slack', limit: 10 }))).map(({ chatId, name, listed }) => [chatId, name, listed]);
    assert.deepEqual(await names(), [['C1', 'general', true], ['C2', 'random', true]]);
    await store.write((tx) => replaceListed(tx, 'slack', []));
    assert.deepEqual(await names(), [['C1', 'general', false]]);
  });

  test('places and names are found in conversations, from where it was left off', async () => {
    const { store, pass } = await open();
    await speak(store, 's1', sampleEvent({ chat: { id: '7', type: 'dm' }, sender: { id: '7', name: 'Ada', isBot: false } }));
    await pass(5);
    await speak(store, 's2', sampleEvent({ chat: { id: '-1', type: 'group', name: 'Team', scopeId: 'w' } }));
    await pass(5);
    await speak(store, 's3', sampleEvent({ chat: { id: '-1', type: 'group', name: 'Team', threadId: '9', topic: 'Releases' } }));
    const first = await store.read(async (db) => spokenFrom(db, await newestSpoken(db), 2));
    assert.deepEqual(first.channels.map(({ chatId, threadId, name, chatType, scopeId }) => [chatId, threadId, name, chatType, scopeId]), [['7', undefined, 'Ada', 'dm', undefined], ['-1', undefined, 'Team', 'group', 'w']]);
    assert.equal(first.next?.sessionId, 's2');
    const rest = await store.read((db) => spokenFrom(db, first.next ?? assert.fail('there is more'), 2));
    assert.deepEqual([rest.channels.map(({ threadId, name }) => [threadId, name]), rest.next], [[['9', 'Releases']], undefined]);
    await store.write((tx) => keepSpoken(tx, [...first.channels, ...rest.channels]));
    const again = await store.read(async (db) => spokenFrom(db, await newestSpoken(db), 10));
    assert.deepEqual(again.channels.map(({ threadId }) => threadId), ['9'], 'only what is as new as the newest');
  });

  test('what nobody speaks in any more is forgotten, unless the platform names it', async () => {
    const { store, pass } = await open();
    await store.write((tx) => keepSpoken(tx, [spoken('-1', { spokenAtMs: 5 }), spoken('-2', { spokenAtMs: Number.MAX_SAFE_INTEGER })]));
    await store.write((tx) => replaceListed(tx, 'slack', [{ chatId: 'C1', name: 'general', chatType: 'channel' }]));
    await pass(1);
    await store.write((tx) => forgetSilentChannels(tx, 1000));
    assert.deepEqual((await store.read((db) => listChannels(db, { limit: 10 }))).map(({ chatId }) => chatId).toSorted(), ['-2', 'C1']);
  });
});
