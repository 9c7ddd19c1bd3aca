import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { limitedFetch } from './limited-fetch.ts';

const serving = async (listener: RequestListener) => {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const get = limitedFetch(1_000);

test('an answer below the limit arrives whole, with its status and headers', async () => {
  await using server = await serving((_, response) => response.writeHead(404, { 'x-note': 'hi' }).end('y'.repeat(900)));
  const response = await get(server.url);
  assert.equal(response.status, 404);
  assert.equal(response.headers.get('x-note'), 'hi');
  assert.equal((await response.text()).length, 900);
});

test('an answer above the limit is an error', async () => {
  await using server = await serving((_, response) => response.end('y'.repeat(1_001)));
  await assert.rejects((await get(server.url)).text(), /larger than/);
});

test('an event stream may be as long as it likes, but not one event of it', async () => {
  const event = `data: ${'z'.repeat(800)}\r\n\r\n`;
  await using server = await serving((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event.repeat(20)));
  assert.equal((await (await get(server.url)).text()).length, event.length * 20);
  await using greedy = await serving((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${event}data: ${'z'.repeat(500)}\ndata: ${'z'.repeat(600)}`));
  await assert.rejects((await get(greedy.url)).text(), /larger than/);
});

test('an answer without a body stays one', async () => {
  await using server = await serving((_, response) => response.writeHead(204).end());
  assert.equal((await get(server.url)).body, null);
});
