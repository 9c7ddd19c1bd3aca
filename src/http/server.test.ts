import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Server, Socket } from 'node:net';
import { test } from 'node:test';
import { Hono } from 'hono';
import { openStoredData } from '../../test/support/stored-data.ts';
import { ConfigError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { newMetrics } from '../lib/metrics.ts';
import type { Webhook } from '../platforms/contract.ts';
import { httpApp } from './app.ts';
import type { HttpEnv } from './client.ts';
import { newLogins } from './logins.ts';
import { httpOptions } from './options.ts';
import { startHttp } from './server.ts';
import type { Patience } from './server.ts';

const start = (app: Hono<HttpEnv>, patience: Partial<Patience> = {}) => startHttp({ options: httpOptions.parse({ port: 0 }), app, patience: { closeMs: 50, ...patience } });

const dial = async (url: string, said = ''): Promise<Socket> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => socket.destroy());
  socket.write(said);
  await once(socket, 'connect');
  return socket;
};

/** The whole surface on a socket, with one account named `some`. */
const startWorld = async (webhook: Webhook) => {
  const store = await openStoredData();
  const logins = newLogins({ store, clock: systemClock });
  const app = httpApp({
    audit: () => undefined,
    options: httpOptions.parse({}),
    version: '0',
    clock: systemClock,
    log: silentLogger,
    logins,
    metrics: newMetrics({ onError: () => undefined }),
    readiness: () => ({ ready: true, accounts: [] }),
    webhook: (account) => (account === 'some' ? webhook : undefined),
    page: new Map(),
    store: store.store,
  });
  const http = await start(app);
  return {
    url: http.url,
    logins,
    async [Symbol.asyncDispose]() {
      await http.close();
      await store[Symbol.asyncDispose]();
    },
  };
};

const answerOf = async (socket: Socket): Promise<string> => {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await once(socket, 'close');
  return text;
};

test('a server listens on a free port, answers and closes', async () => {
  const app = new Hono<HttpEnv>();
  app.get('/', (c) => c.text(c.env.incoming?.socket.remoteAddress ?? 'nobody'));
  const http = await start(app);
  assert.equal(await (await fetch(http.url)).text(), '127.0.0.1');
  await http.close();
  await assert.rejects(fetch(http.url));
});

test('a connection that cannot be taken is told, and ends nothing', async () => {
  const app = new Hono<HttpEnv>();
  let listener: Server | undefined;
  app.get('/', (c) => {
    // Node keeps it there, and its types do not say so.
    listener = (c.env.incoming?.socket as { readonly server?: Server } | undefined)?.server;
    return c.text('here');
  });
  const told: string[] = [];
  const http = await startHttp({ options: httpOptions.parse({ port: 0 }), app, patience: { closeMs: 50 }, onError: ({ message }) => told.push(message) });
  await (await fetch(http.url)).text();
  listener?.emit('error', new Error('accept ENFILE'));
  assert.deepEqual([await (await fetch(http.url)).text(), told], ['here', ['accept ENFILE']]);
  await http.close();
});

test('a port in use is a sentence about http.port', async () => {
  const first = await start(new Hono());
  const port = Number(new URL(first.url).port);
  await assert.rejects(startHttp({ options: httpOptions.parse({ port }), app: new Hono() }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use.* set http\\.port`));
    return true;
  });
  await first.close();
});

test('a client that sends its headers too slowly is cut off', async () => {
  const http = await start(new Hono(), { headersMs: 100 });
  const socket = await dial(http.url);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
  assert.match(await answerOf(socket), /^HTTP\/1\.1 408 /);
  await http.close();
});

test('headers beyond the limit are refused', async () => {
  const http = await start(new Hono());
  const socket = await dial(http.url);
  socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
  assert.match(await answerOf(socket), /^HTTP\/1\.1 431 /);
  await http.close();
});

test('a client that stops reading its answer is cut off, one that waits for an answer is not', async () => {
  const app = new Hono<HttpEnv>();
  const cut = Promise.withResolvers<void>();
  app.get('/endless', (c) => {
    const chunk = new Uint8Array(64 * 1024);
    return c.body(new ReadableStream({ pull: (controller) => controller.enqueue(chunk), cancel: () => cut.resolve() }));
  });
  app.get('/slow', async (c) => {
    await new Promise((resolve) => setTimeout(resolve, 1200));
    return c.text('here');
  });
  const http = await start(app, { stallMs: 600 });
  const socket = await dial(http.url);
  socket.pause();
  socket.write('GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const slow = await fetch(`${http.url}/slow`);
  assert.equal(await slow.text(), 'here');
  await cut.promise;
  socket.destroy();
  await http.close();
});

test('a connection that asks for nothing more is closed', async () => {
  const app = new Hono<HttpEnv>();
  app.get('/', (c) => c.text('here'));
  const http = await start(app, { keepAliveMs: 50, stallMs: 1000 });
  const used = await dial(http.url, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const unused = await dial(http.url);
  const [answered, silent] = await Promise.all([answerOf(used), answerOf(unused)]);
  assert.match(answered, /here$/);
  assert.equal(silent, '');
  await http.close();
});

test('closing cuts answers that do not end', async () => {
  const app = new Hono<HttpEnv>();
  app.get('/', (c) => c.body(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('first')) })));
  const http = await start(app);
  const answer = await fetch(http.url);
  await http.close();
  await assert.rejects(answer.text());
});

test('a body is passed on to an account as a stream, with and without a length', async () => {
  const routes = new Hono();
  routes.onError((error) => {
    throw error;
  });
  routes.post('/count', async (c) => {
    let bytes = 0;
    for await (const chunk of c.req.raw.body ?? []) bytes += chunk.byteLength;
    return c.json({ bytes, type: c.req.header('content-type') });
  });
  await using world = await startWorld({ guard: 'own', routes });
  const chunk = new Uint8Array(100_000);
  const body = new Blob([chunk, chunk]);
  const headers = { 'content-type': 'application/octet-stream' };
  const measured = await fetch(`${world.url}/webhooks/some/count`, { method: 'POST', headers, body });
  assert.deepEqual(await measured.json(), { bytes: 200_000, type: 'application/octet-stream' });
  const streamed = { method: 'POST', headers, body: body.stream(), duplex: 'half' };
  assert.deepEqual(await (await fetch(`${world.url}/webhooks/some/count`, streamed)).json(), { bytes: 200_000, type: 'application/octet-stream' });
  const endless = { method: 'POST', headers, body: new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }), duplex: 'half' };
  const refused = await fetch(`${world.url}/webhooks/some/count`, endless).then((answer) => answer.status, (error: TypeError) => error.name);
  assert.ok(refused === 413 || refused === 'TypeError', String(refused));
});

test('logging out cuts what the session still has open', async () => {
  const routes = new Hono();
  routes.get('/endless', (c) => c.body(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(3)) })));
  await using world = await startWorld({ guard: 'login', routes });
  const headers = { origin: world.url, 'content-type': 'application/json' };
  const login = await fetch(`${world.url}/api/login`, { method: 'POST', headers, body: JSON.stringify({ token: await world.logins.newLink() }) });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const open = await fetch(`${world.url}/api/some/endless`, { headers: { cookie } });
  assert.equal(open.status, 200);
  await fetch(`${world.url}/api/logout`, { method: 'POST', headers: { ...headers, cookie }, body: '{}' });
  await assert.rejects(open.bytes());
});

test('a client that would rather speak another protocol is answered all the same', async () => {
  const http = await start(new Hono<HttpEnv>().get('/', (c) => c.text('hello')));
  const socket = await dial(http.url);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n');
  assert.match(await answerOf(socket), /^HTTP\/1\.1 200 OK[^]*hello/);
  await http.close();
});

test('a socket that nobody wants is refused with the answer of the path', async () => {
  const http = await start(new Hono<HttpEnv>().get('/', (c) => c.json({ error: 'no' }, 403)));
  const socket = await dial(http.url);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n');
  assert.match(await answerOf(socket), /^HTTP\/1\.1 403 Forbidden/);
  await http.close();
});
