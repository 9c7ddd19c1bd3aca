import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replyTarget } from '../../core/message.ts';
import { newChains } from '../../lib/chains.ts';
import { manualClock } from '../../lib/clock.ts';
import type { ManualClock } from '../../lib/clock.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { openAccountData } from '../../../test/support/account-data.ts';
import { eventually, never, newInbox } from '../conformance-bench.ts';
import type { BenchInbox } from '../conformance-bench.ts';
import type { AccountData } from '../contract.ts';
import { openAnswers } from './answers.ts';
import type { Answers } from './answers.ts';
import { openCoalescedCalls } from './coalesced-calls.ts';
import { openGithubComments } from './github-comments.ts';
import { newCallMemory } from './memory.ts';
import { webhookOptions } from './options.ts';
import type { Scheme } from './options.ts';
import { newRateLimit } from './rate.ts';
import { webhookRoutes } from './routes.ts';
import { signCall } from './sign.ts';

const secret = 'it is a long secret';

interface Door {
  readonly inbox: BenchInbox;
  readonly clock: ManualClock;
  readonly answers: Answers;
  readonly stop: AbortController;
  readonly lines: readonly string[];
  request(path: string, init: RequestInit, env?: object): Promise<Response>;
}

interface Given {
  readonly data?: AccountData;
  readonly clock?: ManualClock;
  readonly inbox?: BenchInbox;
  /** Whether nothing is received. */
  readonly away?: () => boolean;
}

const open = (route: Readonly<Record<string, unknown>>, { data = openAccountData(':memory:'), clock = manualClock(), inbox = newInbox(), away = () => false }: Given = {}): Door => {
  const options = webhookOptions.parse({ routes: { r: { secret, ...route } }, github: { token: 'ghp_token' }, max_body_bytes: 1024 });
  const { log, lines } = capturingLogger();
  const answers = openAnswers(data);
  const stop = new AbortController();
  const comments = openGithubComments(options.github, data, () => clock.now());
  const routes = webhookRoutes({ account: 'webhook', options, answers, memory: newCallMemory(data), comments, coalesced: openCoalescedCalls(data), order: newChains(), mayCall: newRateLimit(), clock, log, receiving: () => (away() ? undefined : { inbox, signal: stop.signal }) });
  return { inbox, clock, answers, stop, lines, request: async (path, init, env) => routes.request(path, init, env) };
};

let calls = 0;

interface Sent {
  readonly scheme?: Scheme;
  readonly payload?: unknown;
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly atMs?: number;
}

const send = (door: Door, { scheme = 'standard', payload = { n: 1 }, id = `call-${(calls += 1)}`, headers = {}, atMs }: Sent = {}): Promise<Response> => {
  const body = JSON.stringify(payload);
  return door.request('/r', { method: 'POST', body, headers: { 'content-type': 'application/json', ...signCall({ scheme, secret, id, nowMs: atMs ?? door.clock.now(), body }), ...headers } });
};

const statusOf = async (response: Promise<Response>): Promise<readonly unknown[]> => {
  const answer = await response;
  const { status } = (await answer.json()) as { status?: string };
  return [answer.status, status];
};

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

test('a retry of the sender is known by what stays the same', async () => {
  const cases: readonly (readonly [Scheme, Sent])[] = [
    ['standard', { id: 'same', payload: { n: 1 } }],
    ['svix', { id: 'same-2', payload: { n: 1 } }],
    ['stripe', { payload: { id: 'evt_1' } }],
    ['slack', { payload: { event_id: 'Ev1' } }],
    ['github', { id: 'guid', payload: { n: 1 } }],
    ['gitlab', { id: 'key', payload: { n: 1 } }],
    ['v2', { id: 'request', payload: { n: 1 } }],
    ['v1', { id: 'request', payload: { n: 1 } }],
  ];
  for (const [scheme, sent] of cases) {
    const door = open({});
    assert.deepEqual(await statusOf(send(door, { scheme, ...sent })), [202, 'accepted'], scheme);
    await door.clock.advance(61_000);
    assert.deepEqual(await statusOf(send(door, { scheme, ...sent })), [200, 'duplicate'], scheme);
    assert.equal(door.inbox.events.length, 1, scheme);
  }
});

test('signed bytes are not taken a second time under another name, also when the inbox has forgotten them and the adapter is another', async () => {
  const data = openAccountData(':memory:');
  const clock = manualClock();
  const first = open({}, { data, clock });
  assert.deepEqual(await statusOf(send(first, { scheme: 'github', id: 'delivery-1' })), [202, 'accepted']);
  assert.deepEqual(await statusOf(send(first, { scheme: 'github', id: 'made-up' })), [200, 'duplicate']);
  await clock.advance(30 * 86_400_000);
  const later = open({}, { data, clock });
  assert.deepEqual(await statusOf(send(later, { scheme: 'github', id: 'made-up-again' })), [200, 'duplicate']);
  assert.equal(later.inbox.offered.length, 0);
});

test('a call with a time in its signature is not taken again under another name, and not at all when it is old', async () => {
  const door = open({});
  const atMs = door.clock.now();
  assert.deepEqual(await statusOf(send(door, { scheme: 'v2', id: 'a', atMs })), [202, 'accepted']);
  await door.clock.advance(60_000);
  assert.deepEqual(await statusOf(send(door, { scheme: 'v2', id: 'b', atMs })), [200, 'duplicate']);
  await door.clock.advance(241_000);
  assert.equal((await send(door, { scheme: 'v2', id: 'c', atMs })).status, 401);
});

test('what is remembered of calls is forgotten in the end', async () => {
  const data = openAccountData(':memory:');
  const memory = newCallMemory(data);
  await memory.keep('r', ['old'], 1000);
  await memory.keep('r', ['new'], 5000);
  await memory.forget(3000);
  assert.deepEqual([await memory.knows('r', ['old']), await memory.knows('r', ['new']), await memory.knows('other', ['new'])], [false, true, false]);
  const small = newCallMemory(data, 1);
  for (let n = 0; n < 100; n += 1) await small.keep('r', [`call ${n}`], 10_000 + n);
  await small.forget(0);
  assert.equal((await data.list('seen:')).length, 16);
  assert.ok(await small.knows('r', ['call 99']));
});

test('a call while nothing is received is to be sent again, and counts for nothing', async () => {
  let isAway = true;
  const door = open({ rate_limit: 1 }, { away: () => isAway });
  for (let i = 0; i < 3; i += 1) {
    const refused = await send(door);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  }
  isAway = false;
  assert.equal((await send(door)).status, 202);
});

test('the same body is something new where the route says so, or the payload has an id of its own', async () => {
  const door = open({ repeats: true });
  for (const id of ['a', 'b']) assert.deepEqual(await statusOf(send(door, { scheme: 'v1', id })), [202, 'accepted']);
  const named = open({ id: 'alert.id' });
  for (const [alert, status] of [[1, 'accepted'], [2, 'accepted'], [2, 'duplicate']] as const) {
    assert.equal((await statusOf(send(named, { scheme: 'v2', payload: { alert: { id: alert }, at: (calls += 1) } })))[1], status);
  }
});

test('a call that could not be stored is to be sent again, and is taken then', async () => {
  const door = open({});
  door.inbox.before = () => Promise.reject(new Error('the disk is full'));
  assert.equal((await send(door, { scheme: 'github', id: 'x' })).status, 503);
  door.inbox.before = async () => undefined;
  assert.deepEqual(await statusOf(send(door, { scheme: 'github', id: 'x' })), [202, 'accepted']);
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

const answersOf = async (door: Door, delivery: string): Promise<readonly string[]> => {
  const response = await door.request(`/r?delivery=${delivery}`, { headers: { authorization: `Bearer ${secret}` } });
  return ((await response.json()) as { answers: readonly { text: string }[] }).answers.map(({ text }) => text);
};

test('calls that belong together are one conversation, each is stored, and each finds the answer that was given to all', async () => {
  const door = open({ prompt: '{n}', trusted: true, coalesce: { key: '{pr}', window_seconds: 5 } });
  for (const [id, pr] of [['a', 1], ['b', 1], ['c', 2], ['d', 1]] as const) assert.deepEqual(await statusOf(send(door, { id, payload: { pr, n: id } })), [202, 'coalesced']);
  assert.deepEqual(await statusOf(send(door, { id: 'a', payload: { pr: 1, n: 'a' } })), [200, 'duplicate']);
  const [first, second, other, last] = door.inbox.events;
  assert.ok(first !== undefined && second !== undefined && other !== undefined && last !== undefined);
  assert.deepEqual([first.chat.id, first.batch], [second.chat.id, second.batch]);
  assert.notEqual(first.chat.id, other.chat.id);
  assert.deepEqual(first.batch, { id: first.batch?.id, kind: 'calls', hold: { ms: 5000, mostMs: 300_000 } });
  await door.answers.keep({ key: 'k1', target: replyTarget(second), text: 'to a and b' }, never);
  assert.deepEqual([await answersOf(door, 'a'), await answersOf(door, 'b'), await answersOf(door, 'c'), await answersOf(door, 'd')], [['to a and b'], ['to a and b'], [], []]);
  await door.answers.keep({ key: 'k2', target: replyTarget(last), text: 'to d' }, never);
  assert.deepEqual([await answersOf(door, 'a'), await answersOf(door, 'd'), await answersOf(door, 'nothing')], [['to a and b'], ['to d'], []]);
});

test('a call without the key is answered by itself, and calls with answers for different places never together', async () => {
  const door = open({ deliver: 'github_comment', coalesce: { key: '{repository.full_name}' } });
  const call = (number: number) => send(door, { payload: { repository: { full_name: 'octo/app' }, issue: { number } } });
  for (const number of [1, 2]) assert.deepEqual(await statusOf(call(number)), [202, 'coalesced']);
  const [one, two] = door.inbox.events;
  assert.notEqual(one?.chat.id, two?.chat.id);
  assert.deepEqual([one?.arranged?.deliver, two?.arranged?.deliver], ['webhook:github:octo/app#1', 'webhook:github:octo/app#2']);
  const alone = open({ coalesce: { key: '{pr}' } });
  assert.deepEqual(await statusOf(send(alone, { id: 'x', payload: {} })), [202, 'accepted']);
  assert.deepEqual([alone.inbox.events[0]?.chat.id, alone.inbox.events[0]?.batch], ['r/x', undefined]);
});

test('a call that names nothing to comment on, or is about a comment of ours, is ignored with its reason', async () => {
  const door = open({ deliver: 'github_comment' });
  assert.deepEqual(await statusOf(send(door, { payload: { ref: 'main' } })), [200, 'ignored']);
  const own = { repository: { full_name: 'octo/app' }, issue: { number: 1 }, comment: { body: `hi\n\n<!-- hermes-gateway:${'a'.repeat(32)} -->` } };
  assert.deepEqual(await statusOf(send(door, { payload: own })), [200, 'ignored']);
  assert.deepEqual(door.inbox.offered, []);
  assert.ok(['it names no issue', 'it is a comment of ours'].every((reason) => door.lines.some((line) => line.includes(reason))));
});

test('calls that are answered together cannot be waited for, passed on as they are, or share one conversation with others', () => {
  for (const [wrong, path] of [[{ wait_seconds: 5 }, 'wait_seconds'], [{ deliver_only: true, deliver: 'telegram:7' }, 'coalesce'], [{ conversation: 'route' }, 'conversation']] as const) {
    const { error } = webhookOptions.safeParse({ routes: { r: { secret, coalesce: { key: '{a}' }, ...wrong } } });
    assert.deepEqual(error?.issues.map((issue) => issue.path.at(-1)), [path]);
  }
});
