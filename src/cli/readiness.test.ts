import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshStatus } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import { readinessOf } from './readiness.ts';

const status = (account: string, more: Partial<AccountStatus> = {}): AccountStatus => freshStatus(account, { state: 'connected', ...more });

const readiness = (statuses: readonly AccountStatus[], optional: readonly string[] = []) => readinessOf({ status: () => statuses, isRequired: (account) => !optional.includes(account) });

test('it is ready when every required account hears, is paused, or is held by another gateway', () => {
  assert.equal(readiness([]).ready, true);
  assert.equal(readinessOf(undefined).ready, false);
  assert.equal(readiness([status('telegram'), status('web', { state: 'paused' }), status('slack', { state: 'waiting', errorCode: 'held' })]).ready, true);
  for (const state of ['connecting', 'degraded', 'waiting', 'conflict', 'refused', 'disabled', 'stopped'] as const) {
    const statuses = [status('telegram'), status('slack', { state })];
    assert.equal(readiness(statuses).ready, false, state);
    assert.equal(readiness(statuses, ['slack']).ready, true, `${state}, but not required`);
    assert.equal(readiness(statuses, ['telegram']).ready, false, `${state}, and another one is not required`);
  }
});

test('the last evidence of an account that never connected is none', () => {
  const { accounts } = readiness([status('telegram', { lastAliveAtMs: 5, lastCallAtMs: 7 }), status('slack', { state: 'refused', error: 'the token was refused' })], ['slack']);
  const never = { name: null, identity: null, attempts: 0, next_try: null, connected_since: null, last_evidence: null, last_event: null, last_alive: null, last_call: null };
  assert.deepEqual(accounts, [
    { ...never, account: 'telegram', state: 'connected', last_evidence: '1970-01-01T00:00:00.007Z', last_alive: '1970-01-01T00:00:00.005Z', last_call: '1970-01-01T00:00:00.007Z' },
    { ...never, account: 'slack', state: 'refused', detail: 'the token was refused', required: false },
  ]);
});
