import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpOptions } from './options.ts';

test('nothing listens beyond loopback without a token', () => {
  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'gateway.example']) {
    assert.deepEqual(httpOptions.safeParse({ host }).error?.issues.map(({ path }) => path), [['token']], host);
    assert.equal(httpOptions.safeParse({ host, token: 'sixteen-letters!' }).success, true, host);
  }
  for (const host of ['localhost', '127.0.0.1', '::1']) assert.equal(httpOptions.safeParse({ host }).success, true, host);
  assert.equal(httpOptions.safeParse({ token: 'fifteen-letters' }).success, false);
});
