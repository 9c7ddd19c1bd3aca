import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { PlatformError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { openSocket } from './socket.ts';

/** Connects to somebody who says one thing to whoever comes; answers how often that was a sign of life. */
const signsOfLife = async (said: Readonly<Record<string, unknown>>): Promise<{ readonly signs: number; readonly error: unknown }> => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => socket.send(JSON.stringify(said)));
  await once(server, 'listening');
  let signs = 0;
  const deps = { open: (url: string) => new WebSocket(url), clock: systemClock, onHello: () => undefined, onEnvelope: () => undefined, onAlive: () => void (signs += 1) };
  try {
    const opened = await openSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, deps, new AbortController().signal);
    opened.close();
    return { signs, error: undefined };
  } catch (error) {
    return { signs, error };
  } finally {
    for (const client of server.clients) client.terminate();
    server.close();
    await once(server, 'close');
  }
};

test('a socket receives from its hello on; whoever is sent away instead has heard nothing', async () => {
  assert.deepEqual(await signsOfLife({ type: 'hello' }), { signs: 1, error: undefined });
  const refused = await signsOfLife({ type: 'disconnect', reason: 'too_many_websockets' });
  assert.equal(refused.signs, 0);
  assert.ok(refused.error instanceof PlatformError && refused.error.code === 'conflict');
});
