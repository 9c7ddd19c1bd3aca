import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Hono } from 'hono';
import { ConfigError } from '../core/errors.ts';
import type { HttpEnv } from './client.ts';
import { httpOptions } from './options.ts';
import { checkExposure, startHttp } from './server.ts';
import type { Patience } from './server.ts';

const start = (app: Hono<HttpEnv>, patience: Partial<Patience> = {}) => startHttp({ options: httpOptions.parse({ port: 0 }), app, patience: { closeMs: 50, ...patience } });

const dial = async (url: string): Promise<Socket> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  return socket;
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

test('nothing listens beyond loopback without a token', async () => {
  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'gateway.example']) {
    await assert.rejects(startHttp({ options: httpOptions.parse({ host, port: 0 }), app: new Hono() }), (error) => error instanceof ConfigError && error.message.includes('http.token'), host);
  }
  assert.equal(httpOptions.safeParse({ token: 'fifteen-letters' }).success, false);
  checkExposure(httpOptions.parse({ host: '0.0.0.0', token: 'sixteen-letters!' }));
  for (const host of ['localhost', '127.0.0.1', '::1']) checkExposure(httpOptions.parse({ host }));
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
    await new Promise((resolve) => setTimeout(resolve, 400));
    return c.text('here');
  });
  const http = await start(app, { stallMs: 150 });
  const socket = await dial(http.url);
  socket.pause();
  socket.write('GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const slow = await fetch(`${http.url}/slow`);
  assert.equal(await slow.text(), 'here');
  await cut.promise;
  socket.destroy();
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
