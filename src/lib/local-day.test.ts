import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localDay, nextDayMs } from './local-day.ts';

test('a day begins at midnight of this machine and ends where the next begins', () => {
  for (const [year, month, day] of [[2026, 0, 1], [2026, 2, 29], [2026, 9, 25], [2026, 11, 31]] as const) {
    const startMs = new Date(year, month, day).getTime();
    const next = nextDayMs(startMs);
    assert.equal(localDay(startMs), `${year}-${String(month + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}`);
    assert.equal(localDay(next - 1), localDay(startMs));
    assert.notEqual(localDay(next), localDay(startMs));
    assert.equal(nextDayMs(next - 1), next);
  }
});
