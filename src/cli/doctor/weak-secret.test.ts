import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { isWeakSecret } from './weak-secret.ts';

test('what people type when they have to type something is weak', () => {
  for (const secret of ['aaaaaaaaaaaaaaaa', 'abababababababab', 'passwordpassword', 'changeme-changeme', '1234567890123456', 'abcdefghijklmnop', 'hermes-gateway-token', 'secret-secret-secret', 'qwertyuiopasdfgh', '0000000000000001', 'xyzxyzxyzxyzxyzxyz']) assert.ok(isWeakSecret(secret), secret);
});

test('what was drawn is not', () => {
  for (let i = 0; i < 200; i += 1) for (const secret of [randomBytes(24).toString('base64url'), randomBytes(16).toString('hex'), `whsec_${randomBytes(32).toString('base64')}`]) assert.ok(!isWeakSecret(secret), secret);
  assert.ok(!isWeakSecret('correct horse battery staple'));
});
