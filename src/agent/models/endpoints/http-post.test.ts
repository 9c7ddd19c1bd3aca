import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { post } from './http-post.ts';

let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void> = () => undefined;

before(async () => {
  server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

after(() => {
  server.closeAllConnections();
  server.close();
});

const call = (signal = new AbortController().signal): ReturnType<typeof post> =>
  post(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`), { headers: { 'x-test': 'yes' }, body: 'grüß', signal });

const bodyOf = async (response: Awaited<ReturnType<typeof post>>): Promise<string> => new Response(response.body).text();

test('what is posted arrives, and head and body come back', async () => {
  answer = async (request, response) => void response.writeHead(418, { 'x-back': request.headers['x-test'] }).end(await readText(request));
  const response = await call();
  assert.deepEqual([response.status, response.ok, response.headers.get('x-back'), await bodyOf(response)], [418, false, 'yes', 'grüß']);
});

test('an answer that is compressed although nobody asked for it is read all the same', async () => {
  for (const [encoding, compressed] of [['gzip', gzipSync('packed')], ['br', brotliCompressSync('packed')]] as const) {
    answer = (_request, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(compressed);
    assert.equal(await bodyOf(await call()), 'packed');
  }
});

test('a redirect is an answer and is not followed', async () => {
  answer = (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end();
  assert.equal((await call()).status, 302);
});

test('an answer that breaks off is a failure of its body', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half');
    setImmediate(() => response.destroy());
  };
  const response = await call();
  await assert.rejects(bodyOf(response));
});

test('a large answer is not read ahead of whoever reads it', async () => {
  const size = 32 * 1024 * 1024;
  let sent = 0;
  answer = async (_request, response) => {
    response.writeHead(200);
    for (const piece = Buffer.alloc(64 * 1024); sent < size && !response.destroyed; sent += piece.length) if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    response.end();
  };
  const response = await call();
  const reader = response.body.getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(sent < size / 2, `${sent} bytes were sent`);
  await reader.cancel();
});

test('aborting ends the call, before and after the head has come', async () => {
  answer = () => undefined;
  const waiting = new AbortController();
  const unanswered = call(waiting.signal);
  waiting.abort(new Error('enough'));
  await assert.rejects(unanswered, /enough/);

  answer = (_request, response) => void response.writeHead(200).write('a beginning');
  const reading = new AbortController();
  const response = await call(reading.signal);
  reading.abort(new Error('enough'));
  await assert.rejects(bodyOf(response));
  await assert.rejects(call(AbortSignal.abort(new Error('too late'))), /too late/);
});
