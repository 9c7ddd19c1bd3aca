import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InboundEvent } from '../core/message.ts';
import { sampleEvent } from '../../test/support/samples.ts';
import { awaited, untilAwaited } from '../../test/support/until-awaited.ts';
import { replyTarget } from '../core/message.ts';
import { eraseSession } from '../store/sessions/erase-session.ts';
import { claimLane, turnLane } from '../store/lanes/lanes.ts';
import { joinTurn, waitingItems } from '../store/messages/inbox.ts';
import { startTurn } from '../store/sessions/turns.ts';
import { inboxRows } from '../../test/support/scenes.ts';
import { eachStore } from '../../test/support/stores.ts';
import { newTestFolder, startHooks } from '../hooks/hook-folder.test-support.ts';
import { claimPlace } from '../store/sessions/place-claims.ts';
import { bindingsOf, bindSession, createSession, findSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import type { InboxDeps } from './arrival.ts';
import { newInbox } from './inbox.test-support.ts';
import { acceptEvent } from './inbox.ts';

const room = { id: 'room', type: 'group' } as const;
const from = (id: string) => ({ id, isBot: false });

const messages = async (store: Store) =>
  (await inboxRows(store)).map(({ event, state, reason }) => {
    const { sender, text } = JSON.parse(event) as { sender: { id: string }; text: string };
    return { from: sender.id, text, state, reason };
  });

eachStore((engine, open) => {
  test('an edit changes a message that waits, if its own author made it', async () => {
    const opened = await open();
    await using folder = await newTestFolder();
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, home: folder.path, hooks: running.hooks, platform: 'matrix', allowedUsers: ['@owner:x', '@guest:x'] });
    const edit = (id: string, text: string) => sampleEvent({ account: 'matrix', chat: room, sender: from(id), kind: 'edit', nativeId: `$${text}`, messageId: '$1', text });
    await acceptEvent(inbox, sampleEvent({ account: 'matrix', chat: room, sender: from('@owner:x'), nativeId: '$1', messageId: '$1', text: 'tidy up' }));
    assert.equal(await acceptEvent(inbox, edit('@guest:x', 'send it all to me')), 'skipped');
    assert.equal(await acceptEvent(inbox, edit('@owner:x', 'tidy up my notes')), 'skipped');
    assert.deepEqual(await messages(opened.store), [
      { from: '@owner:x', text: 'tidy up my notes', state: 'waiting', reason: null },
      { from: '@guest:x', text: 'send it all to me', state: 'skipped', reason: 'an edit of what somebody else wrote' },
      { from: '@owner:x', text: 'tidy up my notes', state: 'skipped', reason: 'the edit was taken over into the waiting message' },
    ]);
  });

  test('the rest of an album, or of a text that was cut, needs no mention of its own; what others say, and what is said later, does', async () => {
    const opened = await open();
    await using folder = await newTestFolder();
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, home: folder.path, hooks: running.hooks, allowedUsers: ['ann', 'bob'] });
    let id = 0;
    const say = (text: string, more: Partial<InboundEvent> = {}) => acceptEvent(inbox, sampleEvent({ chat: room, sender: from('ann'), nativeId: String((id += 1)), messageId: String(id), text, addressed: false, sentAtMs: 1000, ...more }));
    const album = { id: 'a1', kind: 'album' } as const;
    const split = { id: 'split:ann', kind: 'split' } as const;
    assert.equal(await say('what are these?', { addressed: true, batch: album }), 'stored');
    assert.equal(await say('second picture', { batch: album }), 'stored');
    assert.equal(await say('another album', { batch: { ...album, id: 'a2' } }), 'skipped');
    assert.equal(await say('from somebody else', { batch: album, sender: from('bob') }), 'skipped');
    assert.equal(await say('a long text', { addressed: true, batch: split }), 'stored');
    assert.equal(await say('its long second piece', { batch: split, sentAtMs: 2000 }), 'stored');
    assert.equal(await say('its end', { sentAtMs: 2000 }), 'stored');
    assert.equal(await say('something else', { sentAtMs: 2000 }), 'skipped', 'an end has no continuation');
    assert.equal(await say('a long text', { addressed: true, batch: split }), 'stored');
    assert.equal(await say('much later', { sentAtMs: 60_000 }), 'skipped');
    assert.deepEqual((await messages(opened.store)).filter(({ state }) => state === 'waiting').map(({ text }) => text), ['what are these?', 'second picture', 'a long text', 'its long second piece', 'its end', 'a long text']);
  });

  test('the rest of a text goes to the thread that its first piece opens', async () => {
    const opened = await open();
    await using folder = await newTestFolder();
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, home: folder.path, hooks: running.hooks, platform: 'discord', allowedUsers: ['ann'] });
    const below = { id: '11', type: 'thread', threadId: '11', parentId: 'room' } as const;
    const first = sampleEvent({ account: 'discord', chat: below, sender: from('ann'), nativeId: '11', messageId: '11', text: 'long', addressed: true, batch: { id: 'split:ann', kind: 'split' } });
    assert.equal(await acceptEvent(inbox, first), 'stored');
    assert.equal(await acceptEvent(inbox, sampleEvent({ account: 'discord', chat: room, sender: from('ann'), nativeId: '12', messageId: '12', text: 'end', addressed: false, sentAtMs: first.sentAtMs })), 'stored');
    const [one, other] = await inboxRows(opened.store);
    assert.deepEqual([one?.chat_id, other?.chat_id, other?.session_id], ['11', '11', one?.session_id ?? assert.fail('no conversation')]);
  });

  test('a conversation that stands in a direct chat without an owner belongs to whoever speaks there', async () => {
    const opened = await open();
    await using folder = await newTestFolder();
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, home: folder.path, hooks: running.hooks, platform: 'slack', allowedUsers: ['U1'] });
    await opened.store.write(async (tx) => {
      await createSession(tx, { id: 's1', agent: 'main', account: 'slack', chatType: 'dm' });
      await bindSession(tx, { sessionKey: 'agent:main:slack:dm:D1', sessionId: 's1', target: { account: 'slack', chatId: 'D1', chatType: 'dm' } });
    });
    assert.equal(await acceptEvent(inbox, sampleEvent({ account: 'slack', chat: { id: 'D1', type: 'dm' }, sender: from('U1') })), 'stored');
    assert.equal((await opened.store.read((db) => findSession(db, 's1')))?.userId, 'U1');
  });

  test('a conversation that waits in a place goes to one person, also when two speak at once to two gateways', async () => {
    const opened = await open();
    await using folder = await newTestFolder();
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inboxOn = (store: Store) => newInbox({ ...opened, store, home: folder.path, hooks: running.hooks, platform: 'discord', allowedUsers: ['ann', 'bob'] });
    const [first, second] = [await inboxOn(opened.store), await inboxOn(await opened.another())];
    const say = (inbox: InboxDeps, chatId: string, who: string) => acceptEvent(inbox, sampleEvent({ account: 'discord', chat: { ...room, id: chatId }, sender: from(who) }));
    for (let i = 0; i < 10; i += 1) {
      const sessionId = `private-${i}`;
      await opened.store.write(async (tx) => {
        await createSession(tx, { id: sessionId, agent: 'main', account: 'telegram', chatType: 'dm', userId: 'ann' });
        await claimPlace(tx, { account: 'discord', chatId: `room-${i}` }, { sessionId, lasting: false });
      });
      await Promise.all([say(first, `room-${i}`, 'ann'), say(second, `room-${i}`, 'bob')]);
      assert.equal((await opened.store.read((db) => bindingsOf(db, sessionId))).length, 1);
    }
  });

  const onlyPostgres = { skip: engine === 'sqlite' && 'one writes after the other there' };

  test('an edit that comes while its message is taken up is either part of it or a message of its own', onlyPostgres, async () => {
    const opened = await open();
    const { store } = opened;
    await using folder = await newTestFolder();
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, store: await opened.another(), home: folder.path, hooks: running.hooks });
    await acceptEvent(inbox, sampleEvent({ nativeId: 'm1', messageId: 'm1', text: 'before' }));
    const [{ session_id: sessionId } = assert.fail('nothing is stored')] = await inboxRows(store);
    const lane = turnLane(sessionId ?? '');
    const over = new AbortController();
    let editing: Promise<unknown> = Promise.resolve();
    const taken = await store.write(async (tx) => {
      await claimLane(tx, { lane, owner: 'a', leaseMs: 60_000 });
      const items = await waitingItems(tx, lane, 10);
      editing = acceptEvent(inbox, sampleEvent({ kind: 'edit', nativeId: 'e1', messageId: 'm1', text: 'after' })).finally(() => over.abort());
      await awaited(tx, over.signal);
      const turn = await startTurn(tx, { sessionId: sessionId ?? '', lane, target: replyTarget(sampleEvent()) });
      await joinTurn(tx, items.map(({ id }) => id), turn.id);
      return items.map(({ event }) => event.text);
    });
    await editing;
    const waiting = (await store.read((db) => waitingItems(db, lane, 10))).map(({ event }) => event.text);
    assert.ok([...taken, ...waiting].includes('after'), `taken up: ${taken.join()}, waiting: ${waiting.join()}`);
  });

  test('a message that arrives while its conversation is removed begins the next one', onlyPostgres, async () => {
    const opened = await open();
    const { store } = opened;
    await using folder = await newTestFolder();
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, store: await opened.another(), home: folder.path, hooks: running.hooks });
    await acceptEvent(inbox, sampleEvent({ text: 'one' }));
    const [{ session_id: before } = assert.fail('nothing is stored')] = await inboxRows(store);
    const { done } = await untilAwaited(store, (tx) => eraseSession(tx, before ?? ''));
    assert.equal(await acceptEvent(inbox, sampleEvent({ text: 'two' })), 'stored');
    await done;
    const [{ session_id: after } = assert.fail('nothing is stored')] = await inboxRows(store);
    assert.notEqual(after, before);
    assert.ok((await store.read((db) => findSession(db, after ?? ''))) !== undefined);
  });
});
