import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import { platforms } from '../platforms/registry.ts';
import { accountData } from '../store/accounts/account-data.ts';
import { freshStatus, saveStatus } from '../store/accounts/accounts.ts';
import { deviceCheckRoutes } from './device-checks.ts';
import type { DeviceChecksAnswer } from './people-wire.ts';

eachStore((_engine, open) => {
  test('a device that waits is shown with its emoji, and what the owner says reaches the gateway that runs the account', async () => {
    const { store } = await open();
    const acts: AuditedAct[] = [];
    const routes = deviceCheckRoutes(store, platforms, (act) => void acts.push(act));
    const post = (body: unknown) => routes.request('/answer', { method: 'POST', body: JSON.stringify(body) });
    const shown = async () => ((await (await routes.request('/')).json()) as DeviceChecksAnswer).checks;
    assert.deepEqual(await shown(), []);
    for (const account of ['telegram', 'matrix@work']) await store.write((tx) => saveStatus(tx, freshStatus(account, { state: 'connected' })));
    const data = accountData(store, 'matrix@work');
    const check = { id: 'flow', userId: '@a:x', state: 'compare', emoji: [{ symbol: '🐶', name: 'Dog' }] };
    await data.set('check:flow', JSON.stringify({ atMs: Date.now(), check }));
    assert.deepEqual(await shown(), [{ account: 'matrix@work', ...check }]);
    const answer = { account: 'matrix@work', id: 'flow', same: true };
    assert.equal((await post({ ...answer, id: 'other' })).status, 404);
    assert.equal((await post({ ...answer, account: 'telegram' })).status, 400);
    assert.equal((await post({ ...answer, same: 'yes' })).status, 400);
    assert.deepEqual(await data.list('check-wish:'), []);
    assert.equal((await post(answer)).status, 200);
    assert.match((await data.list('check-wish:'))[0]?.value ?? '', /"id":"flow","same":true/);
    assert.deepEqual(acts.map(({ act }) => act), ['device verify']);
  });
});
