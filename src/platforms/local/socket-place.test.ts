import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { attachPath, socketPlace } from './socket-place.ts';
import type { SocketQuery } from './socket-place.ts';

const query = (facts: Partial<SocketQuery> = {}): SocketQuery => ({ home: '/home/me/.hermes', account: 'local', platform: 'linux', temporary: '/tmp', userId: 1000, ...facts });

test('the socket stands in the home, and each further account has its own', () => {
  assert.deepEqual(socketPlace(query()), { path: '/home/me/.hermes/gateway.sock' });
  assert.deepEqual(socketPlace(query({ account: 'local@work' })), { path: '/home/me/.hermes/local@work.sock' });
  assert.deepEqual(socketPlace(query({ socket: '/run/hermes.sock' })), { path: '/run/hermes.sock' });
});

test('a home whose path is too long for a socket gets a short one below the temporary folder, named in a file', () => {
  const home = `/home/${'very-long-name/'.repeat(8)}hermes`;
  const place = socketPlace(query({ home }));
  assert.match(place.path, /^\/tmp\/hermes-1000-[0-9a-f]{12}\/s$/);
  assert.equal(place.folder, place.path.slice(0, -2));
  assert.equal(place.pointer, `${home}/gateway.sock.path`);
  assert.notEqual(socketPlace(query({ home: `${home}2` })).path, place.path);
  assert.match(socketPlace(query({ home, temporary: `/var/${'folders/'.repeat(12)}T` })).path, /^\/tmp\//);
});

test('bytes count, not characters', () => {
  const home = `/home/${'世'.repeat(30)}`;
  assert.ok(home.length < 50);
  assert.notEqual(socketPlace(query({ home })).pointer, undefined);
});

test('Windows has pipes', () => {
  assert.match(socketPlace(query({ platform: 'win32' })).path, /^\\\\\.\\pipe\\hermes-[0-9a-f]{12}$/);
});

test('a terminal goes where the pointer says, whatever its own temporary folder is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-place-'));
  try {
    const home = join(folder, 'x'.repeat(100));
    await mkdir(home);
    const place = socketPlace(query({ home }));
    assert.equal(attachPath(query({ home })), place.path);
    await writeFile(place.pointer ?? '', '/elsewhere/s\n');
    assert.equal(attachPath(query({ home, temporary: '/another' })), '/elsewhere/s');
  } finally {
    await rm(folder, { recursive: true });
  }
});
