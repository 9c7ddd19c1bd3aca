import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import { openStoredData } from '../../test/support/stored-data.ts';
import { linkLifeMs, newLogins, sessionLifeMs } from './logins.ts';

const open = async (token?: string) => {
  const store = await openStoredData();
  const clock = manualClock();
  return { store, clock, logins: newLogins({ store, clock, token }) };
};

test('a login link opens one session, once', async () => {
  const { store, logins } = await open();
  await using _ = store;
  const token = await logins.newLink();
  const secret = await logins.redeem(token);
  assert.ok(secret !== undefined);
  assert.equal(await logins.isSession(secret), true);
  assert.equal(await logins.redeem(token), undefined);
});

test('of two browsers that redeem a link at once, one gets in', async () => {
  const { store, logins } = await open();
  await using _ = store;
  const token = await logins.newLink();
  const secrets = await Promise.all([logins.redeem(token), logins.redeem(token), logins.redeem(token)]);
  assert.equal(secrets.filter((secret) => secret !== undefined).length, 1);
});

test('a link ends after ten minutes and a session after thirty days', async () => {
  const { store, clock, logins } = await open();
  await using _ = store;
  const [early, late] = [await logins.newLink(), await logins.newLink()];
  await clock.advance(linkLifeMs - 1);
  const secret = await logins.redeem(early);
  await clock.advance(1);
  assert.equal(await logins.redeem(late), undefined);
  assert.ok(secret !== undefined);
  await clock.advance(sessionLifeMs - 2);
  assert.equal(await logins.isSession(secret), true);
  await clock.advance(1);
  assert.equal(await logins.isSession(secret), false);
});

test('sessions outlive the process, and no secret is stored as it is', async () => {
  const { store, clock, logins } = await open();
  await using _ = store;
  const token = await logins.newLink();
  const unused = await logins.newLink();
  const secret = (await logins.redeem(token)) ?? assert.fail('refused');
  assert.equal(await newLogins({ store, clock }).isSession(secret), true);
  const kept = JSON.stringify(await store.list(''));
  for (const value of [token, unused, secret]) assert.equal(kept.includes(value), false);
});

test('the owner\'s token opens sessions that end when the token changes', async () => {
  const { store, clock, logins } = await open('correct horse battery');
  await using _ = store;
  assert.equal(await logins.redeem('correct horse batterz'), undefined);
  const secret = (await logins.redeem('correct horse battery')) ?? assert.fail('refused');
  const byLink = (await logins.redeem(await logins.newLink())) ?? assert.fail('refused');
  assert.equal(await logins.isSession(secret), true);
  const rotated = newLogins({ store, clock, token: 'another long token' });
  assert.equal(await rotated.isSession(secret), false);
  assert.equal(await rotated.isSession(byLink), true);
  assert.equal(await rotated.redeem('correct horse battery'), undefined);
});

test('a revoked session is over at once and its listeners are told', async () => {
  const { store, logins } = await open();
  await using _ = store;
  const revoked: string[] = [];
  logins.onRevoked((hash) => revoked.push(hash));
  const first = (await logins.redeem(await logins.newLink())) ?? assert.fail('refused');
  const second = (await logins.redeem(await logins.newLink())) ?? assert.fail('refused');
  await logins.revoke(first);
  assert.equal(await logins.isSession(first), false);
  assert.equal(await logins.isSession(second), true);
  await logins.revokeAll();
  assert.equal(await logins.isSession(second), false);
  assert.equal(revoked.length, 2);
});

test('links and sessions are bounded: the oldest give way', async () => {
  const { store, clock, logins } = await open();
  await using _ = store;
  const tokens: string[] = [];
  for (let i = 0; i < 25; i += 1) {
    tokens.push(await logins.newLink());
    await clock.advance(1);
  }
  assert.equal((await store.list('login-link:')).length, 20);
  assert.equal(await logins.redeem(tokens[0] ?? ''), undefined);
  assert.notEqual(await logins.redeem(tokens[24] ?? ''), undefined);
});
