import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../test/vectors/schedules.json' with { type: 'json' };
import type { Schedule } from '../store/cron/cron-jobs.ts';
import { isZone, readSchedule } from './schedule.ts';
import { graceMs, nextSlot } from './slots.ts';
import { wakesAgent } from './wake-gate.ts';

interface Written {
  readonly kind?: string;
  readonly minutes?: number;
  readonly expr?: string;
  readonly run_at?: string;
}

interface Input {
  readonly schedule?: string | Written;
  readonly now?: string;
  readonly tz?: string;
  readonly last_run_at?: string | null;
  readonly script_stdout?: string;
  readonly deliver?: unknown;
}

type Output = Written & { readonly error?: string; readonly display?: string; readonly next?: { readonly utc: string } | null; readonly catch_up_grace_s?: number; readonly run_agent?: boolean; readonly deliver?: string };

const cases = vectors.cases as unknown as readonly { readonly id: string; readonly in: Input; readonly out: Output }[];
const of = (prefix: string) => cases.filter(({ id }) => id.startsWith(prefix));

/** What the original stored, in our words; nothing for what is no schedule. */
const scheduleOf = ({ kind, minutes = 0, expr = '', run_at = '' }: Written): Schedule | undefined => {
  if (kind === 'interval') return { kind, minutes };
  if (kind === 'cron') return { kind, expr };
  return kind === 'once' ? { kind, atMs: Date.parse(run_at) } : undefined;
};

test('schedules of the original mean what they meant', async (t) => {
  for (const { id, in: { schedule, now = '', tz = '' }, out } of of('parse-')) {
    await t.test(id, () => {
      const read = readSchedule(String(schedule), { zone: tz, nowMs: Date.parse(now) });
      if (out.error !== undefined) assert.equal(read.type, 'error');
      else assert.deepEqual(read, { type: 'schedule', schedule: scheduleOf(out), display: out.display });
    });
  }
});

/** A daily job ran twice in the night when the clocks go back; here its next time is the next day's. */
const better: Readonly<Record<string, string>> = { 'next-dst-autumn-after-first': '2026-10-26T01:30:00+00:00' };

test('the next time is the one of the original, but for the hour that comes twice', async (t) => {
  for (const { id, in: input, out } of of('next-')) {
    await t.test(id, () => {
      const schedule = scheduleOf(input.schedule as Written);
      const lastMs = Date.parse(input.last_run_at ?? '');
      const next = schedule === undefined ? null : nextSlot(schedule, { lastMs: Number.isNaN(lastMs) ? null : lastMs, nowMs: Date.parse(input.now ?? ''), zone: input.tz ?? '' });
      const expected = better[id] ?? out.next?.utc;
      assert.equal(next, expected === undefined ? null : Date.parse(expected));
    });
  }
});

test('a run may be as late as in the original', async (t) => {
  for (const { id, in: input, out } of of('grace-')) {
    await t.test(id, () => {
      const schedule = scheduleOf(input.schedule as Written);
      assert.ok(schedule !== undefined);
      assert.equal(graceMs(schedule, 'Europe/Berlin', Date.parse('2026-03-02T08:00:00Z')), (out.catch_up_grace_s ?? 0) * 1000);
    });
  }
});

test('the last line of a script decides whether the agent is asked', async (t) => {
  for (const { id, in: input, out } of of('wake-')) await t.test(id, () => assert.equal(wakesAgent(input.script_stdout ?? ''), out.run_agent));
  assert.equal(wakesAgent('checked 3 feeds\n{"wakeAgent": false}\n\n'), false);
  assert.equal(wakesAgent(''), true);
});

test('a span with "in" is a single run, one with "every" a rhythm', () => {
  const at = { zone: 'UTC', nowMs: 0 };
  assert.deepEqual(readSchedule('in 2 hours', at), { type: 'schedule', schedule: { kind: 'once', atMs: 7_200_000 }, display: 'once in 2 hours' });
  assert.deepEqual(readSchedule(' EVERY  1 day ', at), { type: 'schedule', schedule: { kind: 'interval', minutes: 1440 }, display: 'every 1d' });
});

test('what cannot be is refused with a reason that names the fix', () => {
  for (const [written, reason] of [
    ['0 0 30 2 *', /never comes/],
    ['2026-02-30 08:00', /no time that exists/],
    ['0m', /is no schedule.*every 30m/],
    ['every 99999999m', /names no span/],
    ['0 9 * * * *', /is no schedule/],
    ['5-1 * * * *', /no cron expression/],
  ] as const) {
    const read = readSchedule(written, { zone: 'Europe/Berlin', nowMs: 0 });
    assert.ok(read.type === 'error', written);
    assert.match(read.problem, reason);
  }
});

test('a time of day that the clocks skip or repeat is taken once', () => {
  const at = { zone: 'Europe/Berlin', nowMs: 0 };
  const moments = ['2026-03-29 02:30', '2026-10-25 02:30'].map((written) => readSchedule(written, at));
  assert.deepEqual(moments.map((read) => read.type === 'schedule' && read.schedule), [
    { kind: 'once', atMs: Date.parse('2026-03-29T01:30:00Z') },
    { kind: 'once', atMs: Date.parse('2026-10-25T00:30:00Z') },
  ]);
});

test('zones are those of the IANA database', () => {
  for (const zone of ['Europe/Berlin', 'UTC', 'America/St_Johns', 'Asia/Kolkata']) assert.ok(isZone(zone), zone);
  for (const zone of ['', 'Mars/Olympus', '+01:00', 'Berlin time']) assert.equal(isZone(zone), false, zone);
});
