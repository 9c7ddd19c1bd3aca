import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { changeProcess, forgetProcess, keepProcess, processEnded, processRuns, processesOf } from './processes.ts';
import type { NewProcess } from './processes.ts';

const fresh = (id: string, more: Partial<NewProcess> = {}): NewProcess => ({ id, owner: 'here', sessionId: 's1', command: 'make', cwd: '/w', notify: true, watch: null, ...more });

eachStore((_engine, open) => {
  test('a process is known before it runs, while it runs and after it has ended', async () => {
    const { store, another } = await open();
    await store.write((tx) => keepProcess(tx, fresh('p1')));
    const state = async (): Promise<unknown> => (await (await another()).read((db) => processesOf(db, 'here'))).map(({ id, state, pid, started, exitCode, notify, seen }) => [id, state, pid, started, exitCode, notify, seen]);
    assert.deepEqual(await state(), [['p1', 'starting', null, null, null, true, false]]);
    await store.write((tx) => processRuns(tx, 'p1', { pid: 77, started: 'boot:5' }));
    assert.deepEqual(await state(), [['p1', 'running', 77, 'boot:5', null, true, false]]);
    assert.equal(await store.write((tx) => processEnded(tx, 'p1', { state: 'ended', exitCode: 3 })), true);
    await store.write((tx) => changeProcess(tx, 'p1', { notify: false, seen: true }));
    assert.deepEqual(await state(), [['p1', 'ended', 77, 'boot:5', 3, false, true]]);
  });

  test('an end counts once, and nothing starts after it', async () => {
    const { store } = await open();
    await store.write((tx) => keepProcess(tx, fresh('p1')));
    assert.equal(await store.write((tx) => processEnded(tx, 'p1', { state: 'lost', exitCode: null })), true);
    assert.equal(await store.write((tx) => processEnded(tx, 'p1', { state: 'ended', exitCode: 0 })), false);
    await store.write((tx) => processRuns(tx, 'p1', { pid: 1, started: null }));
    assert.deepEqual((await store.read((db) => processesOf(db, 'here'))).map(({ state, exitCode, pid }) => [state, exitCode, pid]), [['lost', null, null]]);
  });

  test('each machine and home has its own', async () => {
    const { store } = await open();
    await store.write((tx) => keepProcess(tx, fresh('p1')));
    await store.write((tx) => keepProcess(tx, fresh('p2', { owner: 'there', watch: '{"patterns":["x"]}' })));
    assert.deepEqual((await store.read((db) => processesOf(db, 'there'))).map(({ id, watch }) => [id, watch]), [['p2', '{"patterns":["x"]}']]);
    await store.write((tx) => forgetProcess(tx, 'p2'));
    assert.deepEqual(await store.read((db) => processesOf(db, 'there')), []);
  });
});
