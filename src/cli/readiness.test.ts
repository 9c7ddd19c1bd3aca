import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountStatus } from '../store/accounts.ts';
import { readinessOf } from './readiness.ts';

const status = (account: string, more: Partial<AccountStatus> = {}): AccountStatus => ({
  account,
  state: 'connected',
  identity: null,
  name: null,
  errorCode: null,
  error: null,
  attempts: 0,
  connectedAtMs: null,
  lastEventAtMs: null,
  lastAliveAtMs: null,
  lastCallAtMs: null,
  nextTryAtMs: null,
  ...more,
});

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
  assert.deepEqual(accounts, [
    { account: 'telegram', state: 'connected', lastEvidenceMs: 7 },
    { account: 'slack', state: 'refused', detail: 'the token was refused', lastEvidenceMs: null, isOptional: true },
  ]);
});
