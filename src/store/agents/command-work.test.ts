import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { markRestart, takeRestartMarks } from '../messages/restart-marks.ts';
import { forgetNode, registerNode } from '../nodes.ts';
import { abandonedWork, beginWork, endWork } from './command-work.ts';

eachStore((_engine, open) => {
  test('work ends once, and what a node that is gone was doing is found', async () => {
    const { store, pass } = await open();
    await store.write(async (tx) => {
      for (const id of ['a', 'b']) await registerNode(tx, { id, kind: 'gateway', pid: 1 });
      await beginWork(tx, { inboxId: 1, command: '/save', owner: 'a' });
      await beginWork(tx, { inboxId: 2, command: '/deploy', owner: 'b' });
      await beginWork(tx, { inboxId: 3, command: '/model', owner: 'b' });
    });
    assert.deepEqual(await store.read((db) => abandonedWork(db, 60_000)), []);
    assert.deepEqual([await store.write((tx) => endWork(tx, 3)), await store.write((tx) => endWork(tx, 3))], [true, false]);
    await store.write((tx) => forgetNode(tx, 'b'));
    assert.deepEqual(await store.read((db) => abandonedWork(db, 60_000)), [{ inboxId: 2, command: '/deploy', owner: 'b' }]);
    await pass(20);
    assert.deepEqual((await store.read((db) => abandonedWork(db, 10))).map(({ inboxId }) => inboxId), [1, 2], 'a node that is silent for too long counts as gone');
  });

  test('a mark of a restart is taken once', async () => {
    const { store } = await open();
    const marks = [{ inboxId: 4, target: sampleTarget({ chatId: '9' }) }];
    for (let times = 0; times < 2; times += 1) for (const mark of marks) await store.write((tx) => markRestart(tx, mark));
    assert.deepEqual(await store.write(takeRestartMarks), marks);
    assert.deepEqual(await store.write(takeRestartMarks), []);
  });
});
