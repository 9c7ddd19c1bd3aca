import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capturingLogger } from '../../lib/logger.ts';
import { endFacts, endWithin, logCrashes } from './forensics.ts';

test('an end is written down with who may have asked for it', () => {
  const facts = endFacts('SIGTERM', { env: { INVOCATION_ID: 'x' }, runningTurns: 2 });
  assert.deepEqual([facts.why, facts.running_turns, facts.under_systemd, facts.parent.pid], ['SIGTERM', 2, true, process.ppid]);
  assert.equal(facts.load.length, 3);
});

test('an end that takes too long is cut off and says so; one in time is not', async () => {
  const { log, lines } = capturingLogger();
  const code = await new Promise<number>((resolve) => {
    endWithin(1, log, resolve);
    setTimeout(() => undefined, 1000);
  });
  assert.equal(code, 1);
  assert.match(lines.join('\n'), /"level":"fatal".*gateway\.hard_exit/);
  endWithin(1, log, () => assert.fail('it had been told to let go'))[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 20));
});

test('an error that nobody caught is logged before the process ends, and nothing is left to do for Node', async () => {
  const { log, lines } = capturingLogger();
  const others = process.listeners('uncaughtException');
  const ended = Promise.withResolvers<readonly [number, boolean]>();
  let closed = false;
  const close = async (): Promise<void> => void (closed = true);
  const crashes = logCrashes(log, close, (code) => ended.resolve([code, closed]));
  const ours = process.listeners('uncaughtException').find((listener) => !others.includes(listener));
  ours?.(new Error('out of luck'), 'uncaughtException');
  assert.deepEqual(await ended.promise, [1, true]);
  assert.match(lines.join('\n'), /"level":"fatal".*out of luck.*gateway\.crashed/);
  crashes[Symbol.dispose]();
  assert.deepEqual(process.listeners('uncaughtException'), others);
});
