import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { askToPair, redeemInvite } from '../access/pairing.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import { isPaired } from '../store/accounts/pairing.ts';
import type { InviteAnswer, PeopleAnswer } from './people-wire.ts';
import { peopleRoutes } from './people.ts';

const anna = { account: 'telegram', userId: '1001', userName: 'Anna' };

eachStore((_engine, open) => {
  const opened = async () => {
    const { store } = await open();
    const acts: AuditedAct[] = [];
    const routes = peopleRoutes(store, (act) => void acts.push(act));
    const post = (path: string, body: unknown) => routes.request(path, { method: 'POST', body: JSON.stringify(body) });
    const people = async () => (await (await routes.request('/')).json()) as PeopleAnswer;
    return { store, post, people, acts };
  };

  test('whoever asks is listed without a code, and let in by a click', async () => {
    const { store, post, people, acts } = await opened();
    const code = await store.write((tx) => askToPair(tx, anna));
    const [asking] = (await people()).pending;
    assert.ok(asking !== undefined && code !== undefined);
    assert.deepEqual([asking.account, asking.userId, asking.userName], ['telegram', '1001', 'Anna']);
    assert.equal(JSON.stringify(await people()).includes(code), false);
    const answer = (await (await post('/approve', { id: asking.id })).json()) as PeopleAnswer;
    assert.deepEqual(answer.pending, []);
    assert.equal(answer.paired[0]?.userId, '1001');
    assert.equal(await store.read((db) => isPaired(db, 'telegram', ['1001'])), true);
    assert.deepEqual(acts, [{ by: 'the owner at the page', act: 'pairing approve', subject: asking.id }]);
    assert.equal((await post('/approve', { id: asking.id })).status, 404, 'a decision is made once');
  });

  test('a request can be dismissed and a person put out again', async () => {
    const { store, post, people } = await opened();
    await store.write((tx) => askToPair(tx, anna));
    await post('/dismiss', { id: (await people()).pending[0]?.id });
    assert.deepEqual((await people()).pending, []);
    await store.write((tx) => askToPair(tx, { ...anna, userId: '1002' }));
    await post('/approve', { id: (await people()).pending[0]?.id });
    assert.equal((await post('/revoke', { account: 'telegram', userId: '1002' })).status, 200);
    assert.equal((await post('/revoke', { account: 'telegram', userId: '1002' })).status, 404);
    assert.equal(await store.read((db) => isPaired(db, 'telegram', ['1002'])), false);
  });

  test('an invitation of the owner is good on every account, once', async () => {
    const { store, post } = await opened();
    const { code } = (await (await post('/invite', {})).json()) as InviteAnswer;
    assert.equal((await store.write((tx) => redeemInvite(tx, anna, code))).type, 'in');
    assert.equal((await store.write((tx) => redeemInvite(tx, { ...anna, userId: '1003' }, code))).type, 'no');
  });

  test('what is not understood changes nothing', async () => {
    const { post } = await opened();
    for (const [path, body] of [['/approve', {}], ['/approve', []], ['/revoke', { account: 'telegram' }], ['/dismiss', { id: 7 }]] as const) assert.equal((await post(path, body)).status, 400, path);
  });
});
