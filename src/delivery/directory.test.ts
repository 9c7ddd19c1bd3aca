import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent, sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { PlatformError } from '../core/errors.ts';
import { manualClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import type { Directory } from '../platforms/contract.ts';
import { keepSpoken, listChannels } from '../store/accounts/channels.ts';
import { turnLane } from '../store/lanes/lanes.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import { bindSession, createSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { labelsOf, readDirectory, targetText } from './directory.ts';
import { keepDirectory, refreshSpoken } from './refresh-directory.ts';
import { testTargets } from './targets.test-support.ts';

const speak = (store: Store, id: string, chatId: string, name: string): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'group' });
    await bindSession(tx, { sessionKey: id, sessionId: id, target: sampleTarget({ chatId, chatType: 'group' }) });
    await insertInboxItem(tx, { event: sampleEvent({ chat: { id: chatId, type: 'group', name } }), class: 'chat', decisions: [], place: { lane: turnLane(id), sessionId: id, sessionKey: id } });
    await tx.q.updateTable('inbox').set({ state: 'done' }).where('session_id', '=', id).execute();
  });

eachStore((_engine, open) => {
  test('it lists what is known of the configured accounts, with the owner’s names and the home channel', async () => {
    const { store } = await open();
    await store.write((tx) =>
      keepSpoken(tx, [
        { account: 'telegram', chatId: '-1', name: 'Team', chatType: 'group', spokenAtMs: 3 },
        { account: 'telegram', chatId: '-1', threadId: '5', chatType: 'group', spokenAtMs: 2 },
        { account: 'telegram', chatId: '7', name: 'Ada', chatType: 'dm', spokenAtMs: 1 },
        { account: 'telegram@gone', chatId: '8', name: 'Eve', chatType: 'dm', spokenAtMs: 1 },
        { account: 'web', chatId: 'abc', chatType: 'dm', spokenAtMs: 1 },
      ]),
    );
    const targets = testTargets({ accounts: ['telegram', 'web', 'discord'], homes: { telegram: '7', discord: '42' }, aliases: { telegram: { '-1:5': 'releases', '-99': 'ops' } } });
    const entries = await store.read((db) => readDirectory(db, targets));
    const labels = labelsOf(entries);
    assert.deepEqual(
      entries.map((entry) => [targetText(entry), labels.get(entry), entry.isHome]),
      [['telegram:-1', 'Team', false], ['telegram:-1:5', 'releases', false], ['telegram:7', 'Ada', true], ['telegram:-99', 'ops', false], ['discord:42', '42', true]],
    );
    assert.deepEqual((await store.read((db) => readDirectory(db, targets, 'discord'))).length, 1);
  });

  test('it is brought up to date from conversations in as many steps as it takes, and again from where it was', async () => {
    const { store } = await open();
    for (let i = 0; i < 5; i += 1) await speak(store, `s${i}`, `-${i}`, `Chat ${i}`);
    await refreshSpoken(store, AbortSignal.abort());
    assert.deepEqual(await store.read((db) => listChannels(db, { limit: 10 })), [], 'whoever ends does not wait for all of it');
    await refreshSpoken(store);
    await refreshSpoken(store);
    assert.deepEqual((await store.read((db) => listChannels(db, { limit: 10 }))).map(({ name }) => name).toSorted(), ['Chat 0', 'Chat 1', 'Chat 2', 'Chat 3', 'Chat 4']);
  });

  test('it is kept fresh every few minutes; a platform that fails costs only its own names', async () => {
    const { store } = await open();
    const clock = manualClock();
    const { log, lines } = capturingLogger();
    const stop = new AbortController();
    let listed = 0;
    const good: Directory = { list: async () => [{ id: `C${(listed += 1)}`, name: 'general', type: 'channel' }] };
    const bad: Directory = { list: () => Promise.reject(new PlatformError('unavailable', 'no network')) };
    const running = keepDirectory({ store, clock, log, directories: () => new Map([['matrix', bad], ['slack', good]]) }, stop.signal);
    const ids = async (): Promise<readonly string[]> => (await store.read((db) => listChannels(db, { account: 'slack', limit: 10 }))).map(({ chatId }) => chatId);
    const untilListed = async (id: string): Promise<void> => {
      while (!(await ids()).includes(id)) await new Promise((resolve) => setTimeout(resolve, 2));
    };
    await untilListed('C1');
    while (clock.waiting() === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await clock.advance(300_000);
    await untilListed('C2');
    assert.deepEqual(await ids(), ['C2'], 'what is not named any more is gone');
    stop.abort();
    await running;
    assert.ok(lines.some((line) => line.includes('directory.not_listed') && line.includes('matrix')));
  });
});
