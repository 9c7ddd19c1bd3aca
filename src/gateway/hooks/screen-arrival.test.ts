import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../../test/support/samples.ts';
import { inboxRows } from '../../../test/support/scenes.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { newTestFolder, startHooks, ts } from '../../hooks/hook-folder.test-support.ts';
import type { Store } from '../../store/store.ts';
import { newInbox } from '../inbox.test-support.ts';
import { acceptEvent } from '../inbox.ts';

/** Thinks about the first of several messages for longest, and counts what it sees. */
const thinking = ts(`
  let seen = 0;
  export const handle = (_: string, { text }: { text: string }) => new Promise((resolve) => setTimeout(resolve, text === 'one' ? 300 : 0, { decision: 'replace', text: text + ' ' + (seen += 1) }));
`);

const texts = async (store: Store): Promise<readonly string[]> => (await inboxRows(store)).map(({ event }) => (JSON.parse(event) as { text: string }).text);

eachStore((_engine, open) => {
  test('events keep their order within a chat, whoever delivers them and however long a hook thinks', async () => {
    const opened = await open();
    await using folder = await newTestFolder();
    await folder.hook('thinks', { events: ['message:inbound'] }, thinking);
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, home: folder.path, hooks: running.hooks });
    const accepted = await Promise.all(['one', 'two', 'three'].map((text) => acceptEvent(inbox, sampleEvent({ text }))));
    assert.deepEqual(accepted, ['stored', 'stored', 'stored']);
    assert.deepEqual(await texts(opened.store), ['one 1', 'two 2', 'three 3']);
  });

  test('/stop waits for nothing that came before it', async () => {
    const opened = await open();
    await using folder = await newTestFolder();
    await folder.hook('hangs', { events: ['message:inbound', 'command:*'], timeout: 1 }, ts('export const handle = () => new Promise(() => undefined);'));
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, home: folder.path, hooks: running.hooks });
    await Promise.all(['one', '/stop'].map((text) => acceptEvent(inbox, sampleEvent({ text }))));
    assert.deepEqual(await texts(opened.store), ['/stop', 'one']);
  });

  test('an event is shown to hooks once, also when it is delivered again', async () => {
    const opened = await open();
    await using folder = await newTestFolder();
    await folder.hook('thinks', { events: ['message:inbound'] }, thinking);
    await using running = await startHooks(() => [{ path: folder.path }]);
    const inbox = await newInbox({ ...opened, home: folder.path, hooks: running.hooks });
    const event = sampleEvent({ text: 'two' });
    assert.deepEqual([await acceptEvent(inbox, event), await acceptEvent(inbox, event)], ['stored', 'duplicate']);
    assert.equal(running.hooks.report().hooks[0]?.calls, 1);
  });
});
