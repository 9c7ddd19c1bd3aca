import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllowedHost, isOwnOrigin } from './security.ts';

test('loopback names and configured names are allowed, others are not', () => {
  const rules = { bound: '127.0.0.1', allowedHosts: ['chat.example.org'] };
  for (const host of ['localhost', 'localhost:8642', '127.0.0.1:8642', '[::1]:8642', 'chat.example.org', 'CHAT.example.org:443']) assert.equal(isAllowedHost(host, rules), true, host);
  for (const host of [undefined, '', 'evil.example', 'chat.example.org.evil.example', 'localhost.evil.example', '192.168.1.5:8642', '127.0.0.1.evil.example', 'localhost:8642@evil', '[::1', 'a b']) {
    assert.equal(isAllowedHost(host, rules), false, String(host));
  }
});

test('a server open to the network is reached under its addresses, never under a foreign name', () => {
  const rules = { bound: '0.0.0.0', allowedHosts: [] };
  assert.equal(isAllowedHost('192.168.1.5:8642', rules), true);
  assert.equal(isAllowedHost('[fe80::1]:8642', rules), true);
  assert.equal(isAllowedHost('rebound.example:8642', rules), false);
});

test('an origin is ours when its name and port are those of the request', () => {
  for (const [origin, host] of [
    ['http://localhost:8642', 'localhost:8642'],
    ['http://[::1]:8642', '[::1]:8642'],
    ['https://chat.example.org', 'chat.example.org'],
    ['https://chat.example.org', 'chat.example.org:443'],
    ['http://chat.example.org:80', 'chat.example.org'],
  ]) assert.equal(isOwnOrigin(origin, host), true, `${origin} ${host}`);
  for (const [origin, host] of [
    [undefined, 'localhost:8642'],
    ['null', 'localhost:8642'],
    ['http://localhost:9999', 'localhost:8642'],
    ['http://localhost', 'localhost:8642'],
    ['http://evil.example', 'localhost:8642'],
    ['http://localhost:8642.evil.example', 'localhost:8642'],
    ['file://localhost:8642', 'localhost:8642'],
  ]) assert.equal(isOwnOrigin(origin, host), false, `${origin} ${host}`);
});
