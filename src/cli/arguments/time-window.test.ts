import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { InvalidArgumentError } from 'commander';
import { localTime } from '../../lib/local-time.ts';
import { isWithin, newest, readMoment } from './time-window.ts';

before(() => void (process.env['TZ'] = 'Asia/Tokyo'));

const nowMs = Date.parse('2026-11-15T12:00:00Z');
const read = (text: string): string => new Date(readMoment(text, nowMs)).toISOString();

test('a moment is so long ago, or a day or a time where this machine is, unless it says otherwise', () => {
  assert.deepEqual(['30m', '1h', '2d'].map(read), ['2026-11-15T11:30:00.000Z', '2026-11-15T11:00:00.000Z', '2026-11-13T12:00:00.000Z']);
  assert.deepEqual(['2026-11-15', '2026-11-15T10:00', '2026-11-15 10:00:05'].map(read), ['2026-11-14T15:00:00.000Z', '2026-11-15T01:00:00.000Z', '2026-11-15T01:00:05.000Z']);
  assert.deepEqual(['2026-11-15T10:00Z', '2026-11-15T10:00-03:00', localTime(nowMs)].map(read), ['2026-11-15T10:00:00.000Z', '2026-11-15T13:00:00.000Z', '2026-11-15T12:00:00.000Z']);
});

test('what is no moment is refused', () => {
  for (const text of ['soon', '', '10:00', '2026-02-31', '5 parsecs', '2026-11-15T25:00Z']) assert.throws(() => readMoment(text, nowMs), InvalidArgumentError, text);
});

test('a moment is shown with its date and how far it is from Greenwich', () => {
  assert.equal(localTime(Date.parse('2026-11-15T22:14:08.999Z')), '2026-11-16 07:14:08+09:00');
});

test('a window has its first moment and not its last, and nothing whose time cannot be read; without one everything counts', () => {
  const window = { since: nowMs - 1000, until: nowMs };
  const at = (ms: number): string => new Date(ms).toISOString();
  assert.deepEqual([-1001, -1000, -1, 0].map((ms) => isWithin(at(nowMs + ms), window)), [false, true, true, false]);
  assert.deepEqual([isWithin(undefined, window), isWithin('torn', window), isWithin(undefined, {})], [false, false, true]);
});

test('of a window everything is shown, and else the newest fifty, unless somebody says how many', () => {
  const items = Array.from({ length: 80 }, (_, i) => i);
  assert.deepEqual([newest(items, {}).length, newest(items, { since: 0 }).length, newest(items, { lines: 0 }).length], [50, 80, 0]);
  assert.deepEqual(newest(items, { since: 0, lines: 2 }), [78, 79]);
});
