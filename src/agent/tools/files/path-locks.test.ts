import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPathLocks } from './path-locks.ts';

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('who names the same path waits, who names another does not', async () => {
  const locks = newPathLocks();
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = locks.run(['/a'], never, async () => {
    events.push('first begins');
    await gate.promise;
    events.push('first ends');
  });
  const second = locks.run(['/b', '/A'], never, async () => void events.push('second'));
  await locks.run(['/c'], never, async () => void events.push('other'));
  await turn();
  assert.deepEqual(events, ['first begins', 'other']);
  gate.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(events, ['first begins', 'other', 'first ends', 'second']);
});

test('two who name the same paths in another order do not wait for each other forever', async () => {
  const locks = newPathLocks();
  let inside = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    assert.equal(inside, 1);
    await turn();
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => locks.run(index % 2 === 0 ? ['/a', '/b'] : ['/b', '/a'], never, work)));
});

test('whoever stops waiting lets the next pass, and a failure frees the path', async () => {
  const locks = newPathLocks();
  const gate = Promise.withResolvers<void>();
  const first = locks.run(['/a'], never, () => gate.promise);
  const stop = new AbortController();
  const second = locks.run(['/a'], stop.signal, async () => assert.fail('it had stopped waiting'));
  const third = locks.run(['/a'], never, async () => 'third');
  stop.abort(new Error('stop'));
  await assert.rejects(second, { message: 'stop' });
  gate.resolve();
  await first;
  assert.equal(await third, 'third');
  await assert.rejects(locks.run(['/a'], never, () => Promise.reject(new Error('broken'))), { message: 'broken' });
  assert.equal(await locks.run(['/a'], never, async () => 'free'), 'free');
});
