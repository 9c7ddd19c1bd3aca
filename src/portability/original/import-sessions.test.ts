import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { searchMessages } from '../../store/sessions/search.ts';
import { boundSession, findSession, setTitle, createSession } from '../../store/sessions/sessions.ts';
import { pageOfMessages } from '../../store/sessions/transcripts.ts';
import { newImportReport } from '../import-report.ts';
import { attemptIn } from '../try-out.ts';
import { importSessions } from './import-sessions.ts';
import { startedAt, writeOriginalHome } from './original-home.test-support.ts';

const mains = { isAgent: (id: string) => id === 'main' || id === 'helper' };

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-original-'));
});
afterEach(() => rm(folder, { recursive: true }));

eachStore((_engine, open) => {
  test('conversations come with their messages, tools, times, titles and places, and what was taken back stays so', async () => {
    using _home = await writeOriginalHome(folder);
    const { store } = await open();
    const report = newImportReport();
    await importSessions(folder, { ...mains, attempt: attemptIn(store, false), report });
    const trip = await store.read((db) => findSession(db, '20260501_080000_aaaaaaaa'));
    assert.equal(trip?.title, 'Trip');
    assert.deepEqual([trip?.agent, trip?.account, trip?.chatType, trip?.userId, trip?.model, trip?.messageCount], ['main', 'telegram', 'dm', '7', 'gpt-5', 6]);
    assert.deepEqual([trip?.createdAtMs, trip?.activeAtMs, trip?.endedAtMs], [startedAt * 1000, (startedAt + 3600) * 1000, null]);
    assert.deepEqual([trip?.usage.inputTokens, trip?.usage.cost], [120, { usd: 0.5, status: 'estimated' }]);
    const rows = await store.read((db) => pageOfMessages(db, '20260501_080000_aaaaaaaa', { afterId: 0, limit: 100, activeOnly: false }));
    assert.deepEqual(rows.map(({ message, active, archived }) => [message.role, message.content, active, archived]), [
      ['user', 'an old question', false, true],
      ['user', 'a mistake', false, false],
      ['user', 'what time is it?', true, false],
      ['assistant', '', true, false],
      ['tool', 'noon', true, false],
      ['assistant', 'It is noon.', true, false],
    ]);
    assert.equal(rows[2]?.createdAtMs, startedAt * 1000 + 61_500);
    assert.deepEqual(rows[3]?.message, { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'terminal', arguments: '{"command":"date"}' }], reasoning: 'I look', finishReason: 'tool_calls' });
    assert.deepEqual(rows[4]?.message, { role: 'tool', content: 'noon', toolCallId: 'call_1', toolName: 'terminal' });
    const place = await store.read((db) => boundSession(db, 'agent:main:telegram:dm:7'));
    assert.deepEqual([place?.sessionId, place?.target], ['20260501_080000_aaaaaaaa', { account: 'telegram', chatId: '7', chatType: 'dm' }]);
    assert.equal(await store.read((db) => boundSession(db, 'agent:main:telegram:dm:9')), undefined, 'what had ended is not gone on with');
    const before = await store.read((db) => findSession(db, '20260401_080000_bbbbbbbb'));
    assert.deepEqual([before?.endReason, before?.endedAtMs], ['new', (startedAt - 50) * 1000]);
    const group = await store.read((db) => findSession(db, '20260502_080000_cccccccc'));
    assert.deepEqual([group?.agent, group?.chatType, group?.userId], ['coder', 'group', '8']);
    const typed = await store.read((db) => findSession(db, '20260503_080000_dddddd'));
    assert.deepEqual([typed?.account, typed?.userId], ['local', 'owner']);
    assert.deepEqual((await searchMessages(store, { text: 'noon', limit: 5 })).map((hit) => hit.snippet.includes('noon')), [true]);
    assert.deepEqual((await searchMessages(store, { text: 'old question', limit: 5 })).length, 1, 'what was summarised is found');
    assert.deepEqual((await searchMessages(store, { text: 'mistake', limit: 5 })).length, 0, 'what was taken back is not');
    assert.deepEqual(report.lines.map(({ fate, what }) => `${fate}: ${what}`), ['taken: conversations: 5, with messages: 12; going on where they were: 2', 'changed: conversations of the agent coder: 1', 'left: rows that are no messages: 1']);
  });

  test('content of several parts is read, and what cannot be stored is left out of it', async () => {
    using _home = await writeOriginalHome(folder);
    const { store } = await open();
    await importSessions(folder, { ...mains, attempt: attemptIn(store, false), report: newImportReport() });
    const rows = await store.read((db) => pageOfMessages(db, '20260401_080000_bbbbbbbb', { afterId: 0, limit: 100, activeOnly: true }));
    assert.deepEqual(rows.map(({ message }) => message.content), ['look at this\n[image_url]', 'and at this', 'a zero:.']);
    assert.equal(rows[2]?.createdAtMs, (startedAt - 100) * 1000, 'a time that cannot be is the beginning of the conversation');
  });

  test('a place goes on with what the original would go on with', async () => {
    using _home = await writeOriginalHome(folder, 'places');
    const { store } = await open();
    const report = newImportReport();
    await importSessions(folder, { ...mains, attempt: attemptIn(store, false), report });
    const bound = async (user: number): Promise<string | undefined> => (await store.read((db) => boundSession(db, `agent:main:telegram:dm:${user}`)))?.sessionId;
    assert.equal(await bound(12), '20260601_080000_00000012', 'it was closed by accident');
    assert.equal(await bound(13), '20260601_080000_00000013', 'an older one was resumed');
    assert.equal(await bound(14), '20260601_080000_000014', 'it was begun in a terminal and handed over');
    assert.equal(await bound(15), '20260601_090000_00000015', 'it goes on behind its summary');
    assert.equal(await bound(16), undefined, 'the newest one was ended on purpose');
    assert.equal(await bound(17), '20260601_080000_00000017', 'the table knows better than the file');
    const handed = await store.read((db) => findSession(db, '20260601_080000_000014'));
    assert.deepEqual([handed?.account, handed?.userId], ['telegram', '14']);
    assert.equal((await store.read((db) => findSession(db, '20260601_080000_00000012')))?.endedAtMs, null);
    assert.ok(report.lines.some(({ fate, what }) => fate === 'left' && what === 'runs of helpers: 1'));
    assert.equal(await store.read((db) => findSession(db, '20260601_100000_00000012')), undefined);
  });

  test('a second run takes nothing twice, and what is here is not touched', async () => {
    using _home = await writeOriginalHome(folder);
    const { store } = await open();
    await store.write(async (tx) => {
      await createSession(tx, { id: 'mine', agent: 'main', account: 'telegram', chatType: 'dm', userId: '7' });
      await setTitle(tx, 'mine', 'Trip');
    });
    const first = newImportReport();
    await importSessions(folder, { ...mains, attempt: attemptIn(store, false), report: first });
    assert.match(first.lines.find(({ fate }) => fate === 'changed')?.what ?? '', /is called "Trip #2"/);
    const second = newImportReport();
    await importSessions(folder, { ...mains, attempt: attemptIn(store, false), report: second });
    assert.deepEqual(second.lines, [{ area: 'sessions', fate: 'known', what: 'conversations: 5' }]);
    assert.equal((await store.read((db) => findSession(db, 'mine')))?.title, 'Trip');
  });

  test('trying it out changes nothing', async () => {
    using _home = await writeOriginalHome(folder);
    const { store } = await open();
    const report = newImportReport();
    await importSessions(folder, { ...mains, attempt: attemptIn(store, true), report });
    assert.match(report.lines[0]?.what ?? '', /conversations: 5, with messages: 12/);
    assert.equal(await store.read((db) => findSession(db, '20260501_080000_aaaaaaaa')), undefined);
  });

  test('conversations that are given to an agent go on where that agent answers', async () => {
    using _home = await writeOriginalHome(folder);
    const { store } = await open();
    await importSessions(folder, { ...mains, attempt: attemptIn(store, false), report: newImportReport(), agent: 'helper' });
    assert.equal((await store.read((db) => boundSession(db, 'agent:helper:telegram:dm:7')))?.sessionId, '20260501_080000_aaaaaaaa');
    assert.equal(await store.read((db) => boundSession(db, 'agent:main:telegram:dm:7')), undefined);
  });

  test('an early version is read with the index and the transcripts that are files beside its database', async () => {
    using _home = await writeOriginalHome(folder, 'early');
    const { store } = await open();
    await importSessions(folder, { ...mains, attempt: attemptIn(store, false), report: newImportReport() });
    const place = await store.read((db) => boundSession(db, 'agent:main:telegram:dm:7'));
    assert.deepEqual([place?.sessionId, place?.target.chatId], ['20260101_000000_eeeeeeee', '7']);
    const file = await store.read((db) => findSession(db, '20251201_080000_99999999'));
    assert.deepEqual([file?.account, file?.userId, file?.messageCount], ['discord', 'u1', 2]);
    const rows = await store.read((db) => pageOfMessages(db, '20251201_080000_99999999', { afterId: 0, limit: 10, activeOnly: true }));
    assert.deepEqual(rows.map(({ message }) => message.content), ['from before the database', 'in a file']);
    assert.equal((await store.read((db) => boundSession(db, 'agent:main:discord:dm:d1')))?.sessionId, '20251201_080000_99999999');
  });
});
