import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newChains } from './chains.ts';

test('work under one key is done in order, also after a failure, and other keys do not wait', async () => {
  const chains = newChains();
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = chains.run('a', async () => {
    await gate.promise;
    done.push('a1');
    throw new Error('a1 failed');
  });
  const second = chains.run('a', async () => {
    done.push('a2');
    return 2;
  });
  await chains.run('b', async () => void done.push('b1'));
  assert.deepEqual(done, ['b1']);
  gate.resolve();
  await assert.rejects(first, /a1 failed/);
  assert.equal(await second, 2);
  assert.deepEqual(done, ['b1', 'a1', 'a2']);
});
