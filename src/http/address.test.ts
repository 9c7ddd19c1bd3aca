import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback, networkOf, normaliseAddress } from './address.ts';

test('an IPv4 address is the same one however it is spelt', () => {
  for (const spelling of ['1.2.3.4', '::ffff:1.2.3.4', '::FFFF:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:1.2.3.4', '0000::ffff:0102:0304']) {
    assert.equal(normaliseAddress(spelling), '1.2.3.4', spelling);
  }
});

test('an IPv6 address has one spelling, and its network is counted as one', () => {
  assert.equal(normaliseAddress('2001:DB8::0001%eth0'), '2001:db8:0:0:0:0:0:1');
  assert.equal(networkOf('2001:db8::1'), networkOf('2001:db8:0:0:ffff::2'));
  assert.notEqual(networkOf('2001:db8::1'), networkOf('2001:db8:0:1::1'));
  assert.equal(networkOf('::ffff:10.0.0.1'), '10.0.0.1');
});

test('loopback is recognised in every family and nothing else is', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1']) assert.equal(isLoopback(address), true, address);
  for (const address of ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '::2', '127.evil.example', '']) assert.equal(isLoopback(address), false, address);
});
