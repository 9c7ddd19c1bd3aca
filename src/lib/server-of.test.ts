import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverOf } from './server-of.ts';

test('a server is the same however its address is written, and another at another name or port', () => {
  for (const address of ['https://api.example.org', 'https://api.example.org/', 'https://API.example.org:443//bot', 'https://api.example.org/v10/']) assert.equal(serverOf(address), 'https://api.example.org', address);
  for (const address of ['http://127.0.0.1:8081', 'http://localhost:8081/', 'http://[::1]:8081']) assert.equal(serverOf(address), 'http://127.0.0.1:8081', address);
  for (const address of ['https://api.example.org:8443', 'http://api.example.org', 'https://example.org']) assert.notEqual(serverOf(address), 'https://api.example.org');
  assert.equal(serverOf('no address'), 'no address');
});
