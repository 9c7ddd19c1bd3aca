import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { boundSession, findSession, listSessions } from '../../store/sessions/sessions.ts';
import { pageOfMessages } from '../../store/sessions/transcripts.ts';
import { newImportReport } from '../import-report.ts';
import { attemptIn } from '../try-out.ts';
import type { Attempt } from '../try-out.ts';
import { agentsOf } from './agents.ts';
import { importSessions } from './import-sessions.ts';
import { writeOpenclawHome } from './openclaw-home.test-support.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-claw-'));
});
afterEach(() => rm(folder, { recursive: true }));

const run = async (attempt: Attempt, signal = new AbortController().signal): Promise<readonly string[]> => {
  const report = newImportReport();
  await importSessions(folder, await agentsOf(folder, {}), { attempt, report, sharing: {}, signal });
  return report.lines.map(({ fate, what }) => `${fate} ${what}`);
};

eachStore((_engine, open) => {
  test('a place goes on with its conversation, which is as it was', async () => {
    using _home = await writeOpenclawHome(folder, 'databases');
    const { store } = await open();
    await run(attemptIn(store, false));
    const bound = await store.read((db) => boundSession(db, 'agent:main:telegram:dm:7'));
    assert.equal(bound?.sessionId, '20260325_030000_cd7fe3ee');
    assert.equal((await store.read((db) => boundSession(db, 'agent:main:telegram:group:-100:5')))?.sessionId, '20260325_030000_22222222');
    const session = await store.read((db) => findSession(db, bound?.sessionId ?? ''));
    assert.deepEqual([session?.title, session?.model, session?.usage.inputTokens, session?.usage.cost], ['Trip', 'claude-opus-4-6', 10, { usd: 0.25, status: 'estimated' }]);
    const rows = await store.read((db) => pageOfMessages(db, bound?.sessionId ?? '', { afterId: 0, limit: 100, activeOnly: true }));
    assert.deepEqual(rows.map(({ message }) => [message.role, message.content, message.toolCalls?.[0]?.name ?? message.toolCallId]), [['user', 'what time is it?', undefined], ['assistant', '', 'exec'], ['tool', 'noon', 'call_1'], ['assistant', 'It is noon.', undefined]]);
  });

  test('an import that was interrupted is gone on with, and takes nothing twice', async () => {
    using _home = await writeOpenclawHome(folder, 'databases');
    const { store } = await open();
    const halt = new AbortController();
    let taken = 0;
    const interrupted: Attempt = async (work) => {
      const done = await store.write(work);
      taken += 1;
      if (taken === 2) halt.abort();
      return done;
    };
    await assert.rejects(run(interrupted, halt.signal), { name: 'AbortError' });
    assert.equal((await store.read((db) => listSessions(db, { limit: 10 }))).length, 2);
    const lines = await run(attemptIn(store, false));
    assert.match(lines.join('\n'), /taken conversations: 2,[^]*known conversations: 2/);
    const all = await store.read((db) => listSessions(db, { limit: 10 }));
    assert.deepEqual(all.map(({ id, messageCount }) => `${id.slice(-8)} ${messageCount}`).toSorted(), ['11111111 1', '22222222 1', '33333333 1', 'cd7fe3ee 4']);
  });

  test('trying it out changes nothing', async () => {
    using _home = await writeOpenclawHome(folder, 'files');
    const { store } = await open();
    const dry = await run(attemptIn(store, true));
    assert.deepEqual(await store.read((db) => listSessions(db, { limit: 10 })), []);
    assert.deepEqual(await run(attemptIn(store, false)), dry);
  });
});
