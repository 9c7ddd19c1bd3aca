import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { failure, never } from '../conformance-bench.ts';
import { openApi } from './api.ts';
import { newReply } from './reply.ts';

const seen: { readonly url: string | undefined; readonly authorization: string | undefined; readonly body: string }[] = [];
let answer: { status: number; headers?: Record<string, string>; body: string };

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (data: Buffer) => (body += data.toString()));
  request.on('end', () => {
    seen.push({ url: request.url, authorization: request.headers.authorization, body });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
});

let root: string;

beforeEach(async () => {
  seen.length = 0;
  answer = { status: 200, body: '{"ok":true}' };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const open = () => openApi({ base_url: root, request_timeout_seconds: 5 }, 'xoxb-token');

describe('a call', () => {
  it('is a form, with its token in a header and what is no text as JSON', async () => {
    await open().once('chat.postMessage', { channel: 'C1', text: 'a & b', blocks: [{ type: 'divider' }], unfurl_links: false, thread_ts: undefined }, never);
    const [{ url, authorization, body } = assert.fail('no call')] = seen;
    assert.deepEqual([url, authorization], ['/api/chat.postMessage', 'Bearer xoxb-token']);
    assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), { channel: 'C1', text: 'a & b', blocks: '[{"type":"divider"}]', unfurl_links: 'false' });
  });

  it('is limited by status and by word, with the time of the header', async () => {
    answer = { status: 429, headers: { 'retry-after': '7' }, body: '' };
    assert.equal((await failure(open().once('chat.postMessage', {}, never), 'rate_limited')).facts.retryAfterMs, 7000);
    answer = { status: 200, body: '{"ok":false,"error":"ratelimited"}' };
    assert.equal((await failure(open().once('chat.postMessage', {}, never), 'rate_limited')).facts.retryAfterMs, undefined);
  });

  it('that gets no answer of Slack has an unknown outcome if it would be seen twice', async () => {
    answer = { status: 502, body: 'Bad Gateway' };
    await failure(open().once('chat.postMessage', {}, never), 'unknown_outcome');
    await failure(open().repeatable('users.info', {}, never), 'unavailable');
  });

  it('follows nobody elsewhere', async () => {
    answer = { status: 302, headers: { location: 'https://example.org/' }, body: '' };
    await failure(open().repeatable('users.info', {}, never), 'unavailable');
  });
});

describe('the token', () => {
  it('goes with downloads from Slack, and to nobody else', async () => {
    answer = { status: 200, body: 'bytes' };
    assert.equal(await (await open().download(`${root}files/x`, never)).text(), 'bytes');
    assert.equal(seen.at(-1)?.authorization, 'Bearer xoxb-token');
    for (const url of ['https://example.org/x', 'http://files.slack.com/x', 'https://files.slack.com.example.org/x', 'https://notslack.com/x', 'nonsense', root.replace('127.0.0.1', 'localhost')]) await failure(open().download(url, never), 'unsupported');
    assert.equal(seen.length, 1);
  });

  it('does not go with uploads and answers to slash commands', async () => {
    await open().upload(`${root}upload`, new Blob(['x']), never);
    await newReply({ base_url: root, request_timeout_seconds: 5 })(`${root}reply`, { text: 'x' }, never);
    assert.deepEqual(seen.map(({ authorization }) => authorization), [undefined, undefined]);
    await failure(newReply({ base_url: root, request_timeout_seconds: 5 })('https://hooks.slack.com.example.org/x', {}, never), 'rejected');
  });
});
