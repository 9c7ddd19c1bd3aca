import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Schedule } from '../store/cron/cron-jobs.ts';
import { countedMost, dueSlots, nextSlot } from './slots.ts';

/** Clocks that change in spring or in autumn, by an hour or by half of one, at night or at midnight, and such as never change. */
const zones = ['Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Australia/Lord_Howe', 'Australia/Sydney', 'America/Santiago', 'Africa/Cairo', 'Atlantic/Azores', 'Asia/Kolkata', 'UTC'];

const dayMs = 86_400_000;
const zone = fc.constantFrom(...zones);
const minute = fc.integer({ min: 0, max: 59 });
const hour = fc.integer({ min: 0, max: 23 });

/** Some days before the clocks of a zone change, or before any day where they never do. */
const beforeChange = fc.tuple(zone, fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 1, max: 4 })).map(([timeZone, day, ahead]) => {
  const from = Temporal.Instant.fromEpochMilliseconds(Date.UTC(2025, 0, 1) + day * dayMs).toZonedDateTimeISO(timeZone);
  return { zone: timeZone, fromMs: (from.getTimeZoneTransition('next') ?? from).epochMilliseconds - ahead * dayMs };
});

/** Every slot within a time, by asking for one after the other. */
const chain = (schedule: Schedule, at: { fromMs: number; untilMs: number; zone: string }): readonly number[] => {
  const slots: number[] = [];
  for (let next = nextSlot(schedule, { lastMs: at.fromMs, nowMs: at.fromMs, zone: at.zone }); next !== null && next <= at.untilMs; next = nextSlot(schedule, { lastMs: next, nowMs: next, zone: at.zone })) slots.push(next);
  return slots;
};

const localTime = (ms: number, timeZone: string): Temporal.PlainDateTime => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDateTime();

/** The moment of a time of day, or of the end of the gap that it falls into. */
const expectedAt = (day: Temporal.PlainDate, time: { hour: number; minute: number }, timeZone: string): number => {
  const earlier = day.toPlainDateTime(time).toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (earlier.toPlainDateTime().equals(day.toPlainDateTime(time))) return earlier.epochMilliseconds;
  return earlier.getTimeZoneTransition('next')?.epochMilliseconds ?? assert.fail('a gap has an end');
};

test('an appointment keeps its time of day, once a day, whatever the clocks do', () => {
  fc.assert(
    fc.property(beforeChange, fc.uniqueArray(hour, { minLength: 1, maxLength: 4 }), minute, ({ zone: timeZone, fromMs }, hours, m) => {
      const untilMs = fromMs + 7 * dayMs;
      const slots = chain({ kind: 'cron', expr: `${m} ${hours.join(',')} * * *` }, { fromMs, untilMs, zone: timeZone });
      const expected = new Set<number>();
      for (let day = localTime(fromMs, timeZone).toPlainDate().subtract({ days: 1 }); day.toPlainDateTime().toZonedDateTime(timeZone).epochMilliseconds <= untilMs; day = day.add({ days: 1 })) {
        for (const h of hours) expected.add(expectedAt(day, { hour: h, minute: m }, timeZone));
      }
      assert.deepEqual(slots, [...expected].filter((atMs) => atMs > fromMs && atMs <= untilMs).toSorted((a, b) => a - b));
    }),
    { numRuns: 150 },
  );
});

test('a rhythm goes on through the change of the clocks in real time', () => {
  fc.assert(
    fc.property(beforeChange, fc.constantFrom(15, 30), ({ zone: timeZone, fromMs }, step) => {
      const slots = chain({ kind: 'cron', expr: `*/${step} * * * *` }, { fromMs, untilMs: fromMs + 5 * dayMs, zone: timeZone });
      assert.ok(slots.length > 0);
      assert.ok(slots.every((atMs, index) => index === 0 || atMs - (slots[index - 1] ?? 0) === step * 60_000));
    }),
    { numRuns: 20 },
  );
});

const schedule: fc.Arbitrary<Schedule> = fc.oneof(
  fc.integer({ min: 20, max: 3000 }).map((minutes): Schedule => ({ kind: 'interval', minutes })),
  fc.tuple(minute, hour).map(([m, h]): Schedule => ({ kind: 'cron', expr: `${m} ${h} * * *` })),
  fc.tuple(minute, hour, hour).map(([m, a, b]): Schedule => ({ kind: 'cron', expr: `${m} ${a},${b} * * 1-5` })),
  fc.constantFrom('*/20 * * * *', '0 */6 * * *', '30 2 * * 0', '0 0 1 * *').map((expr): Schedule => ({ kind: 'cron', expr })),
);

test('what is due after a pause is what would have been due one after the other', () => {
  fc.assert(
    fc.property(beforeChange, schedule, fc.integer({ min: 0, max: 8 * 1440 }), fc.integer({ min: 1, max: 5 }), ({ zone: timeZone, fromMs }, one, pauseMin, most) => {
      const firstMs = nextSlot(one, { lastMs: null, nowMs: fromMs, zone: timeZone });
      assert.ok(firstMs !== null);
      const nowMs = firstMs + pauseMin * 60_000 + 1;
      const all = [firstMs, ...chain(one, { fromMs: firstMs, untilMs: nowMs, zone: timeZone })];
      const due = dueSlots(one, { firstMs, nowMs, zone: timeZone, most });
      assert.deepEqual(due.newest, all.slice(-most));
      assert.equal(due.count, Math.min(all.length, countedMost));
      assert.equal(due.nextMs, nextSlot(one, { lastMs: all.at(-1) ?? 0, nowMs, zone: timeZone }));
    }),
    { numRuns: 60 },
  );
});
