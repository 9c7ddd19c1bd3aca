import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distance, nearest } from './nearest.ts';

const keys = ['allowed_users', 'allow_all_users', 'enabled', 'token', 'base_url', 'port', 'host'];

test('common slips find the word that was meant', () => {
  assert.equal(nearest('alowed_users', keys), 'allowed_users');
  assert.equal(nearest('allowed-users', keys), 'allowed_users');
  assert.equal(nearest('Allowed_Users', keys), 'allowed_users');
  assert.equal(nearest('allow_all_user', keys), 'allow_all_users');
  assert.equal(nearest('prot', keys), 'port');
  assert.equal(nearest('tokne', keys), 'token');
  assert.equal(nearest('enabld', keys), 'enabled');
});

test('a word that is nothing like any other gets no suggestion', () => {
  assert.equal(nearest('color', keys), undefined);
  assert.equal(nearest('x', keys), undefined);
  assert.equal(nearest('a'.repeat(100_000), keys), undefined);
});

test('the distance counts changes, and a swap of neighbours as one', () => {
  assert.equal(distance('', 'abc'), 3);
  assert.equal(distance('abc', 'abc'), 0);
  assert.equal(distance('abcd', 'acbd'), 1);
  assert.equal(distance('kitten', 'sitting'), 3);
});
