import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { StoreError } from '../core/errors.ts';
import { newMetrics } from '../lib/metrics.ts';
import { freshStatus } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import { gatewayMetrics } from './metrics.ts';

const status = (account: string): AccountStatus => freshStatus(account, { state: 'connected' });

eachStore((_engine, open) => {
  test('an account that is taken out of the configuration is not shown as connected any more', async () => {
    const { store, clock } = await open();
    const metrics = newMetrics({ onError: (error) => assert.fail(String(error)) });
    let accounts = [status('telegram'), status('slack')];
    gatewayMetrics(metrics, { store, clock, accounts: () => accounts });
    assert.match(await metrics.text(), /^hermes_account_connected\{account="slack",state="connected"\} 1$/m);
    accounts = [status('telegram')];
    const text = await metrics.text();
    assert.match(text, /^hermes_account_connected\{account="telegram",state="connected"\} 1$/m);
    assert.doesNotMatch(text, /slack/);
  });

  test('a store that does not answer hides no trouble of accounts, and what it said before does not stand for now', async () => {
    const { store, clock } = await open();
    const failures: unknown[] = [];
    const metrics = newMetrics({ onError: (error) => failures.push(error) });
    let state: AccountStatus['state'] = 'connected';
    let isAway = false;
    const read: typeof store.read = (work) => (isAway ? Promise.reject(new StoreError('unavailable', 'away')) : store.read(work));
    gatewayMetrics(metrics, { store: { ...store, read }, clock, accounts: () => [freshStatus('telegram', { state })] });
    assert.match(await metrics.text(), /^hermes_oldest_open_seconds 0$/m);
    isAway = true;
    state = 'conflict';
    const text = await metrics.text();
    assert.equal(failures.length, 1);
    assert.match(text, /^hermes_account_connected\{account="telegram",state="conflict"\} 1$/m);
    assert.match(text, /^hermes_oldest_open_seconds NaN$/m);
    assert.doesNotMatch(text, /^hermes_open\{/m);
  });
});
