import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replyTarget } from '../../core/message.ts';
import { eventually, never } from '../conformance-bench.ts';
import { webhookOptions } from './options.ts';
import { signCall } from './sign.ts';
import { open, secret, send, statusOf } from './webhook.test-support.ts';

test('a call becomes an event of its own conversation', async () => {
  const door = open({ prompt: 'n is {n}', trusted: true, agent: 'ops', skills: ['review'], deliver: 'telegram:7' });
  assert.deepEqual(await statusOf(send(door, { id: 'one' })), [202, 'accepted']);
  const [event] = door.inbox.events;
  assert.deepEqual(event, {
    account: 'webhook',
    kind: 'message',
    nativeId: 'one',
    chat: { id: 'r/one', type: 'dm', name: 'webhook r', parentId: 'r' },
    sender: { id: 'r', name: 'r', isBot: false },
    text: 'n is 1',
    media: [],
    messageId: 'one',
    addressed: true,
    mentioned: false,
    awaitsAnswer: true,
    arranged: { agent: 'ops', skills: ['review'], deliver: 'telegram:7' },
    sentAtMs: door.clock.now(),
  });
});

test('who is refused is told why by a status, and nothing of the body gets anywhere', async () => {
  const door = open({});
  const body = '{"n":1}';
  const signed = signCall({ scheme: 'standard', secret, id: 'x', nowMs: door.clock.now(), body });
  assert.equal((await door.request('/other', { method: 'POST', body, headers: signed })).status, 404);
  assert.equal((await door.request('/constructor', { method: 'POST', body, headers: signed })).status, 404);
  assert.equal((await door.request('/r', { method: 'POST', body })).status, 401);
  assert.equal((await door.request('/r', { method: 'POST', body: `${body} `, headers: signed })).status, 401);
  const long = JSON.stringify({ text: 'x'.repeat(2000) });
  assert.equal((await door.request('/r', { method: 'POST', body: long, headers: { 'content-length': String(long.length) } })).status, 413);
  const stream = new Blob([long]).stream();
  assert.equal((await door.request('/r', { method: 'POST', body: stream, ...({ duplex: 'half' } as object) })).status, 413);
  const xml = '<a/>';
  const sign = (text: string) => signCall({ scheme: 'standard', secret, id: 'y', nowMs: door.clock.now(), body: text });
  assert.equal((await door.request('/r', { method: 'POST', body: xml, headers: { ...sign(xml), 'content-type': 'application/xml' } })).status, 415);
  assert.equal((await door.request('/r', { method: 'POST', body: xml, headers: { ...sign(xml), 'content-type': 'application/json' } })).status, 400);
  assert.deepEqual(door.inbox.offered, []);
  assert.ok(!door.lines.join('\n').includes(secret));
});

test('forms are read, also those that carry JSON', async () => {
  const door = open({ prompt: '{a} {list.1}', trusted: true });
  for (const body of ['a=1&list=x&list=y', `payload=${encodeURIComponent('{"a":1,"list":["x","y"]}')}`]) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signCall({ scheme: 'standard', secret, id: body.slice(0, 5), nowMs: door.clock.now(), body }) };
    assert.equal((await door.request('/r', { method: 'POST', body, headers })).status, 202);
  }
  assert.deepEqual(door.inbox.events.map(({ text }) => text), ['1 y', '1 y']);
});

test('more calls than the route allows wait, and are told how long', async () => {
  const door = open({ rate_limit: 2 });
  assert.equal((await send(door)).status, 202);
  await door.clock.advance(10_000);
  assert.equal((await send(door)).status, 202);
  const refused = await send(door);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '50']);
  await door.clock.advance(50_000);
  assert.equal((await send(door)).status, 202);
});

test('unsigned calls do not use up what signed ones are allowed', async () => {
  const door = open({ rate_limit: 1 });
  for (let n = 0; n < 3; n += 1) assert.equal((await door.request('/r', { method: 'POST', body: '{}' })).status, 401);
  assert.equal((await send(door)).status, 202);
});

test('events and payloads that the route does not want are ignored', async () => {
  const door = open({ events: ['push', 'pull_request.opened'], filters: [{ path: 'draft', not_equals: true }] });
  const event = (name: string, payload: object) => statusOf(send(door, { payload, headers: { 'x-github-event': name } }));
  assert.deepEqual(await event('issues', {}), [200, 'ignored']);
  assert.deepEqual(await event('pull_request', { action: 'closed' }), [200, 'ignored']);
  assert.deepEqual(await event('pull_request', { action: 'opened', draft: true }), [200, 'ignored']);
  assert.deepEqual(await event('pull_request', { action: 'opened', draft: false }), [202, 'accepted']);
  assert.deepEqual(await event('push', {}), [202, 'accepted']);
});

test('Slack’s question whether somebody is here is answered only when it is signed', async () => {
  const door = open({});
  const payload = { type: 'url_verification', challenge: '3eZbrw1a' };
  assert.deepEqual(await (await send(door, { scheme: 'slack', payload })).json(), { challenge: '3eZbrw1a' });
  assert.equal((await door.request('/r', { method: 'POST', body: JSON.stringify(payload) })).status, 401);
  assert.deepEqual(door.inbox.offered, []);
});

test('a caller who waits gets the answer, one who comes back finds it, and others do not', async () => {
  const door = open({ wait_seconds: 60 });
  const waiting = send(door, { id: 'asked' });
  const event = await eventually(() => door.inbox.events[0], 'the call arrived');
  await door.answers.keep({ key: 'turn:1', target: replyTarget(event), text: 'It is **done**.' }, never);
  assert.deepEqual(await (await waiting).json(), { status: 'answered', delivery: 'asked', answer: 'It is **done**.' });
  const again = await send(door, { id: 'asked' });
  assert.deepEqual(await again.json(), { status: 'answered', delivery: 'asked', answer: 'It is **done**.' });
  const look = (token: string, query = '?delivery=asked') => door.request(`/r${query}`, { headers: { authorization: `Bearer ${token}` } });
  const found = (await (await look(secret)).json()) as { answers: { text: string }[] };
  assert.deepEqual(found.answers.map(({ text }) => text), ['It is **done**.']);
  assert.equal((await look('another secret')).status, 401);
  assert.equal((await look(secret, '')).status, 400);
});

test('a turn that ends in silence ends the waiting', async () => {
  const door = open({ wait_seconds: 60 });
  const waiting = send(door, { id: 'quiet' });
  const event = await eventually(() => door.inbox.events[0], 'the call arrived');
  await door.answers.keep({ key: 'turn:1', target: replyTarget(event), text: '[SILENT]' }, never);
  assert.deepEqual(await (await waiting).json(), { status: 'silent', delivery: 'quiet' });
});

test('who waits is told to come back when the gateway stops', async () => {
  const door = open({ wait_seconds: 60 });
  const waiting = statusOf(send(door));
  await eventually(() => door.inbox.events[0], 'the call arrived');
  door.stop.abort();
  assert.deepEqual(await waiting, [202, 'accepted']);
});

test('the secret before this one still opens the door', async () => {
  const door = open({ secret: 'the new secret', previous_secret: secret });
  assert.equal((await send(door)).status, 202);
  const closed = open({ secret: 'the new secret' });
  assert.equal((await send(closed)).status, 401);
});

test('a route without authentication answers programs on this machine only', async () => {
  const door = open({ secret: 'INSECURE_NO_AUTH' });
  const from = (remoteAddress: string | undefined, headers: Record<string, string> = {}) => door.request('/r', { method: 'POST', body: '{"n":1}', headers }, remoteAddress === undefined ? {} : { incoming: { socket: { remoteAddress } } });
  const statuses = await Promise.all([from('127.0.0.1'), from('::ffff:127.0.0.1'), from('::1'), from('10.0.0.7'), from(undefined), from('127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }), from('127.0.0.1', { origin: 'https://example.org' }), from('127.0.0.1', { host: 'my.tunnel.example' })]);
  assert.deepEqual(statuses.map(({ status }) => status), [202, 202, 202, 401, 401, 401, 401, 401]);
});

test('a route that cannot be right is refused when the configuration is read', () => {
  const problems = (route: Readonly<Record<string, unknown>>, name = 'r') => (webhookOptions.safeParse({ routes: { [name]: route } }).error?.issues ?? []).map(({ path }) => path.join('.'));
  assert.deepEqual(problems({}), ['routes.r.secret']);
  assert.deepEqual(problems({ secret: 'short' }), ['routes.r.secret']);
  assert.deepEqual(problems({ secret, scheme: 'hmac' }), ['routes.r.hmac']);
  assert.deepEqual(problems({ secret, hmac: { header: 'X-Sig' } }), ['routes.r.hmac']);
  assert.deepEqual(problems({ secret, deliver_only: true }), ['routes.r.deliver']);
  assert.deepEqual(problems({ secret, deliver_only: true, deliver: 'telegram', wait_seconds: 5 }), ['routes.r.wait_seconds']);
  assert.deepEqual(problems({ secret }, '../x'), ['routes.../x']);
  assert.deepEqual(problems({ secret }), []);
});
