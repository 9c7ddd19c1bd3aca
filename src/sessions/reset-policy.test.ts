import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../test/vectors/reset-policy.json' with { type: 'json' };
import type { ChatType } from '../core/message.ts';
import { resetPolicyFor, resetReason, resetSection } from './reset-policy.ts';
import type { ResetPolicy } from './reset-policy.ts';

const zone = 'Europe/Berlin';
const localMs = (wall: string): number => Temporal.PlainDateTime.from(wall).toZonedDateTime(zone).epochMilliseconds;

const policyOf = (session_reset: object): ResetPolicy => resetSection.parse({ session_reset }).session_reset;

test('the policies of the original decide as they did', async (t) => {
  for (const { id, in: input, out } of vectors.cases) {
    await t.test(id, () => {
      const policies: { default?: object; by_type?: object; by_platform?: object } = input.policies;
      const section = resetSection.parse({
        session_reset: policies.default,
        reset_by_type: policies.by_type,
        reset_by_platform: policies.by_platform,
      });
      const policy = resetPolicyFor(section, { account: input.source.platform, type: input.source.chat_type as ChatType });
      const nowMs = localMs(input.now);
      const age = { nowMs, lastActiveMs: localMs(input.updated_at), zone, ...(input.background_process_running && { processStartedMs: nowMs - 60_000 }) };
      assert.equal(policy.mode, out.effective_mode);
      assert.equal(resetReason(policy, age) ?? null, out.reset);
    });
  }
});

test('the same wall clock resets in one zone and not yet in another', () => {
  const policy = policyOf({ mode: 'daily', at_hour: 4 });
  const age = { lastActiveMs: Date.UTC(2026, 2, 2, 1), nowMs: Date.UTC(2026, 2, 2, 3, 30) };
  assert.equal(resetReason(policy, { ...age, zone: 'Europe/Berlin' }), 'daily');
  assert.equal(resetReason(policy, { ...age, zone: 'UTC' }), undefined);
});

test('an hour that the clock change leaves out still resets once', () => {
  const policy = policyOf({ mode: 'daily', at_hour: 2 });
  const before = Date.UTC(2026, 2, 29, 0, 59); // 01:59 in Berlin, a minute before 03:00
  const after = Date.UTC(2026, 2, 29, 1, 0);
  assert.equal(resetReason(policy, { lastActiveMs: before - 60_000, nowMs: before, zone }), undefined);
  assert.equal(resetReason(policy, { lastActiveMs: before, nowMs: after, zone }), 'daily');
  assert.equal(resetReason(policy, { lastActiveMs: after, nowMs: after + 3_600_000, zone }), undefined);
});

test('an hour that comes twice resets only the first time', () => {
  const policy = policyOf({ mode: 'daily', at_hour: 2 });
  const first = Date.UTC(2026, 9, 25, 0, 0); // 02:00 summer time in Berlin
  const second = first + 3_600_000; // 02:00 again
  assert.equal(resetReason(policy, { lastActiveMs: first - 1, nowMs: first, zone }), 'daily');
  assert.equal(resetReason(policy, { lastActiveMs: first, nowMs: second, zone }), undefined);
});

test('a night of 25 hours does not make yesterday evening today', () => {
  const policy = policyOf({ mode: 'daily', at_hour: 0 });
  const nowMs = Date.UTC(2026, 9, 25, 22, 59, 59); // 23:59:59 winter time in Berlin, 24:59:59 after midnight
  assert.equal(resetReason(policy, { lastActiveMs: Date.UTC(2026, 9, 24, 22), nowMs, zone }), undefined);
  assert.equal(resetReason(policy, { lastActiveMs: Date.UTC(2026, 9, 24, 21, 59, 59), nowMs, zone }), 'daily');
});

test('a clock that went backwards never resets', () => {
  const nowMs = Date.UTC(2026, 2, 2, 3, 30);
  for (const mode of ['idle', 'daily', 'both'])
    for (const aheadMs of [1, 86_400_000, 400 * 86_400_000])
      assert.equal(resetReason(policyOf({ mode, idle_minutes: 0 }), { nowMs, lastActiveMs: nowMs + aheadMs, zone }), undefined);
});

test('an old background process no longer holds a reset back', () => {
  const policy = policyOf({ mode: 'idle', idle_minutes: 1, bg_process_max_age_hours: 2 });
  const nowMs = Date.UTC(2026, 2, 2);
  const age = { nowMs, lastActiveMs: nowMs - 10 * 3_600_000 };
  assert.equal(resetReason(policy, { ...age, processStartedMs: nowMs - 3_600_000 }), undefined);
  assert.equal(resetReason(policy, { ...age, processStartedMs: nowMs - 2 * 3_600_000 }), 'idle');
});

test('an account has its own policy before its platform has', () => {
  const section = resetSection.parse({
    reset_by_platform: { telegram: { mode: 'idle' }, 'telegram@work': { mode: 'daily' } },
    reset_by_type: { dm: { mode: 'both' } },
  });
  const modeOf = (account: string): string => resetPolicyFor(section, { account, type: 'dm' }).mode;
  assert.deepEqual(['telegram', 'telegram@work', 'telegram@home', 'slack'].map(modeOf), ['idle', 'daily', 'idle', 'both']);
});

test('a policy that cannot be meant is refused', () => {
  const bad = [
    { session_reset: { mode: 'weekly' } },
    { session_reset: { at_hour: 24 } },
    { session_reset: { at_hour: 4.5 } },
    { session_reset: { idle_minutes: -1 } },
    { session_reset: { idle_minuts: 5 } },
    { reset_by_type: { forum: { mode: 'idle' } } },
    { reset_by_platform: { discord: { idle_minutes: 5 } } },
  ];
  for (const section of bad) assert.equal(resetSection.safeParse(section).success, false, JSON.stringify(section));
});
