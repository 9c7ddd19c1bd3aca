import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setImmediate as loopTurned } from 'node:timers/promises';
import { newRedactor } from '../../lib/redact.ts';
import type { Terminal } from '../environment.ts';
import { openLog } from './open-log.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hermes-open-log-'));
});

afterEach(() => rmSync(home, { recursive: true }));

const terminal: Terminal = { env: {}, version: '0', write: () => undefined, writeError: () => undefined };

const opened = (): { readonly lines: string[] } & ReturnType<typeof openLog> => {
  const lines: string[] = [];
  return { lines, ...openLog(terminal, { home, redactor: newRedactor() }, (some) => lines.push(...some.map((line) => (JSON.parse(line) as { msg: string }).msg))) };
};

const written = (): readonly string[] => readFileSync(join(home, 'logs', 'gateway.log'), 'utf8').split('\n').filter((line) => line !== '').map((line) => (JSON.parse(line) as { msg: string }).msg);

test('nobody waits for a line: those that come together are written together when the event loop comes round, in order', async () => {
  const { log, lines, close } = opened();
  log.info({}, 'one');
  log.warn({}, 'two');
  assert.deepEqual(lines, []);
  await loopTurned();
  assert.deepEqual(lines, ['one', 'two']);
  log.info({}, 'three');
  await close();
  assert.deepEqual(lines, ['one', 'two', 'three']);
  assert.deepEqual(written(), ['one', 'two', 'three']);
});

test('lines that come right after others are written together a moment later, and the next one at once again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { log, lines, close } = opened();
  log.info({}, 'one');
  await loopTurned();
  assert.deepEqual(lines, ['one']);
  log.info({}, 'two');
  await loopTurned();
  log.info({}, 'three');
  await loopTurned();
  assert.deepEqual(lines, ['one']);
  t.mock.timers.tick(20);
  assert.deepEqual(lines, ['one', 'two', 'three']);
  t.mock.timers.tick(20);
  log.info({}, 'four');
  await loopTurned();
  assert.deepEqual(lines, ['one', 'two', 'three', 'four']);
  await close();
  assert.deepEqual(written(), ['one', 'two', 'three', 'four']);
});

test('the last words of a process are written at once, and with them what stood before', async () => {
  const { log, lines, close } = opened();
  log.info({}, 'one');
  log.fatal({}, 'two');
  assert.deepEqual(lines, ['one', 'two']);
  await close();
  assert.deepEqual(written(), ['one', 'two']);
});

test('what is said right before the process ends is shown', async () => {
  const before = process.listenerCount('exit');
  const { log, lines, close } = opened();
  log.info({}, 'last');
  const flush = process.listeners('exit').at(-1);
  flush?.(0);
  assert.deepEqual(lines, ['last']);
  await close();
  assert.equal(process.listenerCount('exit'), before);
});
