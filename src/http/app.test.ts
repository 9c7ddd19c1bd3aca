import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { openStoredData } from '../../test/support/stored-data.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import { manualClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import { newMetrics } from '../lib/metrics.ts';
import type { Webhook } from '../platforms/contract.ts';
import { freshStatus } from '../store/accounts/accounts.ts';
import { accountReport } from './account-report.ts';
import { httpApp } from './app.ts';
import { newLogins } from './logins.ts';
import { httpOptions } from './options.ts';

const token = 'a-token-of-the-owner';

const echo = (guard: Webhook['guard']): Webhook => {
  const routes = new Hono();
  routes.all('*', async (c) => c.json({ path: c.req.path, query: c.req.query(), body: await c.req.text() }));
  return { guard, routes };
};

const setUp = async (section: Readonly<Record<string, unknown>> = {}) => {
  const clock = manualClock();
  const store = await openStoredData();
  const options = httpOptions.parse(section);
  const logins = newLogins({ store, clock, token: options.token });
  const metrics = newMetrics({ onError: (error) => assert.fail(String(error)) });
  metrics.counter({ name: 'seen_total', help: 'Seen.' }).at().inc();
  const { log, lines } = capturingLogger();
  let ready = true;
  const webhooks = new Map<string, Webhook>([
    ['telegram@work', echo('own')],
    ['web', echo('login')],
  ]);
  const acts: AuditedAct[] = [];
  const app = httpApp({
    audit: (act) => void acts.push(act),
    options,
    version: '1.2.3',
    clock,
    log,
    logins,
    metrics,
    readiness: () => ({ ready, accounts: [accountReport(freshStatus('telegram@work', { state: ready ? 'connected' : 'degraded', lastCallAtMs: ready ? 1 : null }))] }),
    webhook: (account) => webhooks.get(account),
    expects: (account) => account === 'starting',
    page: new Map(),
    store: store.store,
  });
  const from = (address: string) => ({ incoming: { socket: { remoteAddress: address } } });
  const ask = (path: string, init: RequestInit & { readonly from?: string } = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('host')) headers.set('host', 'localhost:8642');
    return app.request(path, { ...init, headers }, from(init.from ?? '127.0.0.1'));
  };
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}, address = '127.0.0.1') =>
    ask(path, { method: 'POST', from: address, body: JSON.stringify(body), headers: { origin: 'http://localhost:8642', 'content-type': 'application/json', 'content-length': '2', ...headers } });
  const cookie = async (): Promise<string> => {
    const answer = await post('/api/login', { token: await logins.newLink() });
    return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  };
  return { app, acts, ask, post, cookie, clock, logins, lines, webhooks, setReady: (value: boolean) => (ready = value), [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
};

test('who may talk is the business of logged-in browsers only', async () => {
  await using world = await setUp();
  assert.equal((await world.ask('/api/people')).status, 401);
  assert.equal((await world.post('/api/people/invite', {})).status, 401);
  assert.equal((await world.ask('/api/people', { headers: { cookie: await world.cookie() } })).status, 200);
});

test('health says that the process answers', async () => {
  await using http = await setUp();
  await http.clock.advance(61_500);
  const answer = await http.ask('/health', { headers: { host: '10.1.2.3:8642' }, from: '10.9.9.9' });
  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), { status: 'ok', uptime_s: 61, version: '1.2.3' });
});

test('ready follows the accounts and tells strangers no details', async () => {
  await using http = await setUp({ token });
  const local = await http.ask('/ready');
  assert.equal(local.status, 200);
  assert.partialDeepStrictEqual(await local.json(), { ready: true, pid: process.pid, accounts: [{ account: 'telegram@work', state: 'connected', last_evidence: '1970-01-01T00:00:00.001Z' }] });
  http.setReady(false);
  const stranger = await http.ask('/ready', { from: '10.9.9.9' });
  assert.equal(stranger.status, 503);
  assert.deepEqual(await stranger.json(), { ready: false });
  const bearer = await http.ask('/ready', { from: '10.9.9.9', headers: { authorization: `Bearer ${token}` } });
  assert.partialDeepStrictEqual(await bearer.json(), { ready: false, accounts: [{ account: 'telegram@work', state: 'degraded', last_evidence: null }] });
});

test('metrics are for local readers and for bearers of the token', async () => {
  await using http = await setUp({ token });
  const local = await http.ask('/metrics');
  assert.equal(local.status, 200);
  assert.match(local.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(await local.text(), /^seen_total 1$/m);
  assert.equal((await http.ask('/metrics', { from: '10.9.9.9' })).status, 401);
  assert.equal((await http.ask('/metrics', { from: '10.9.9.9', headers: { authorization: `Bearer ${token}` } })).status, 200);
  assert.equal((await http.ask('/metrics', { from: '10.9.9.9', headers: { authorization: 'Bearer nearly-the-token' } })).status, 401);
});

test('what a proxy or a tunnel on this machine passes on is not local', async () => {
  await using http = await setUp();
  assert.equal((await http.ask('/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } })).status, 401);
  assert.equal((await http.ask('/metrics', { headers: { host: 'my.tunnel.example' } })).status, 401);
});

test('an account that is only starting is not said to be missing', async () => {
  await using http = await setUp();
  const starting = await http.ask('/webhooks/starting/hook', { method: 'POST', body: '{}' });
  assert.deepEqual([starting.status, starting.headers.get('retry-after')], [503, '1']);
  assert.equal((await http.ask('/webhooks/nobody/hook', { method: 'POST', body: '{}' })).status, 404);
});

test('a login sets a strict cookie that opens the account routes', async () => {
  await using http = await setUp();
  assert.equal((await http.ask('/api/web/chats')).status, 401);
  const answer = await http.post('/api/login', { token: await http.logins.newLink() });
  assert.equal(answer.status, 200);
  const set = answer.headers.get('set-cookie') ?? '';
  assert.match(set, /^hermes_session_8642=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
  const cookie = set.split(';')[0] ?? '';
  assert.deepEqual(await (await http.ask('/api/session', { headers: { cookie } })).json(), { loggedIn: true, takesToken: false });
  const chats = await http.ask('/api/web/chats?x=1', { headers: { cookie } });
  assert.deepEqual(await chats.json(), { path: '/chats', query: { x: '1' }, body: '' });
});

test('behind a trusted proxy that speaks https the cookie is secure', async () => {
  await using http = await setUp({ trusted_proxies: ['10.0.0.1'], allowed_hosts: ['chat.example.org'] });
  const headers = { host: 'chat.example.org', origin: 'https://chat.example.org', 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
  const trusted = await http.post('/api/login', { token: await http.logins.newLink() }, headers, '10.0.0.1');
  assert.match(trusted.headers.get('set-cookie') ?? '', /; Secure;/);
  const untrusted = await http.post('/api/login', { token: await http.logins.newLink() }, headers, '10.0.0.2');
  assert.doesNotMatch(untrusted.headers.get('set-cookie') ?? '', /Secure/);
});

test('logging out ends the session', async () => {
  await using http = await setUp();
  const cookie = await http.cookie();
  const out = await http.post('/api/logout', {}, { cookie });
  assert.match(out.headers.get('set-cookie') ?? '', /hermes_session_8642=; Max-Age=0/);
  assert.equal((await http.ask('/api/web/chats', { headers: { cookie } })).status, 401);
});

test('wrong tokens are limited per address however it is spelt, and the wait is told', async () => {
  await using http = await setUp({ token });
  for (let i = 0; i < 10; i += 1) {
    const answer = await http.post('/api/login', { token: `guess ${i}` }, {}, i % 2 === 0 ? '1.2.3.4' : '::ffff:1.2.3.4');
    assert.equal(answer.status, 401);
  }
  const blocked = await http.post('/api/login', { token }, {}, '::ffff:102:304');
  assert.equal(blocked.status, 429);
  assert.equal(blocked.headers.get('retry-after'), '600');
  assert.equal((await http.ask('/metrics', { from: '1.2.3.4', headers: { authorization: `Bearer ${token}` } })).status, 429);
  assert.equal((await http.post('/api/login', { token }, {}, '1.2.3.5')).status, 200);
  await http.clock.advance(600_000);
  assert.equal((await http.post('/api/login', { token }, {}, '1.2.3.4')).status, 200);
});

test('guesses that are made at once are no more than those made one after the other', async () => {
  await using http = await setUp({ token });
  const guesses = Array.from({ length: 60 }, (_, i) => (i === 40 ? token : `wrong-${i}`));
  const answers = await Promise.all(guesses.map((guess) => http.post('/api/login', { token: guess }, {}, '203.0.113.9')));
  assert.deepEqual([answers.filter(({ status }) => status === 401).length, answers.filter(({ status }) => status === 429).length], [10, 50]);
  const links = await Promise.all([http.logins.newLink(), http.logins.newLink()]);
  assert.deepEqual((await Promise.all(links.map((link) => http.post('/api/login', { token: link }, {}, '203.0.113.10')))).map(({ status }) => status), [200, 200]);
});

test('whoever signs calls wrongly too often is not listened to for a minute, and nobody else is shut out', async () => {
  await using http = await setUp();
  const seen: string[] = [];
  const routes = new Hono();
  routes.all('*', (c) => {
    const signature = c.req.header('x-signature') ?? '';
    seen.push(signature);
    return signature === 'right' ? c.json({}) : c.json({}, 401);
  });
  http.webhooks.set('telegram@work', { guard: 'own', routes });
  const call = async (signature: string, from: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await http.ask('/webhooks/telegram@work/', { method: 'POST', from, headers: { 'x-signature': signature, ...headers } })).status;
  for (let i = 0; i < 20; i += 1) assert.equal(await call(`guess ${i}`, i % 2 === 0 ? '203.0.113.7' : '::ffff:203.0.113.7'), 401);
  assert.equal(await call('right', '203.0.113.7'), 429);
  assert.equal(await call('right', '::FFFF:cb00:7107'), 429);
  assert.ok(!seen.includes('right'));
  assert.equal(await call('right', '198.51.100.2'), 200);
  for (let i = 0; i < 21; i += 1) await call('wrong', '127.0.0.1', { 'x-forwarded-for': '198.51.100.2, 203.0.113.9' });
  assert.equal(await call('right', '127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }), 429);
  assert.equal(await call('right', '127.0.0.1', { 'x-forwarded-for': '203.0.113.9, 198.51.100.2' }), 200);
  assert.equal(await call('right', '127.0.0.1'), 200);
  await http.clock.advance(60_000);
  assert.equal(await call('right', '203.0.113.7'), 200);
});

test('whoever names another address with each guess is limited all the same', async () => {
  await using http = await setUp();
  const routes = new Hono();
  routes.all('*', (c) => c.json({}, 401));
  http.webhooks.set('telegram@work', { guard: 'own', routes });
  const call = async (i: number): Promise<number> => (await http.ask('/webhooks/telegram@work/', { method: 'POST', from: '127.0.0.1', headers: { 'x-forwarded-for': `198.51.100.${i}` } })).status;
  for (let i = 0; i < 200; i += 1) assert.equal(await call(i), 401);
  assert.equal(await call(201), 429);
  await http.clock.advance(60_000);
  assert.equal(await call(202), 401);
});

test('a login and an address that guesses are written down, each once', async () => {
  await using http = await setUp({ token });
  await http.post('/api/login', { token }, {}, '198.51.100.2');
  for (let i = 0; i < 30; i += 1) await http.post('/api/login', { token: `guess ${i}` }, {}, '203.0.113.9');
  assert.deepEqual(http.acts, [
    { by: 'the owner at the page', act: 'login', subject: 'from 198.51.100.2' },
    { by: 'somebody at 203.0.113.9', act: 'locked out', subject: 'too many wrong logins' },
  ]);
});

test('a client behind a trusted proxy is limited by its own address, and cannot choose it', async () => {
  await using http = await setUp({ token, trusted_proxies: ['10.0.0.1'] });
  for (let i = 0; i < 10; i += 1) await http.post('/api/login', { token: 'guess' }, { 'x-forwarded-for': `9.9.9.${i}, 203.0.113.9` }, '10.0.0.1');
  assert.equal((await http.post('/api/login', { token }, { 'x-forwarded-for': '203.0.113.9' }, '10.0.0.1')).status, 429);
  assert.equal((await http.post('/api/login', { token }, { 'x-forwarded-for': '203.0.113.10' }, '10.0.0.1')).status, 200);
});

test('foreign hosts, foreign origins and foreign sites are refused', async () => {
  await using http = await setUp();
  const cookie = await http.cookie();
  assert.equal((await http.ask('/api/web/chats', { headers: { cookie, host: 'rebound.example:8642' } })).status, 403);
  assert.equal((await http.ask('/', { headers: { host: 'rebound.example:8642' } })).status, 403);
  assert.equal((await http.ask('/api/web/events', { headers: { cookie, origin: 'http://evil.example' } })).status, 403);
  assert.equal((await http.ask('/api/web/events', { headers: { cookie, 'sec-fetch-site': 'cross-site' } })).status, 403);
  assert.equal((await http.ask('/api/web/events', { headers: { cookie, 'sec-fetch-site': 'same-site' } })).status, 403);
  assert.equal((await http.ask('/api/web/events', { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status, 200);
  assert.equal((await http.post('/api/web/x', {}, { cookie, origin: 'http://localhost:1' })).status, 403);
  assert.equal((await http.ask('/api/web/x', { method: 'POST', headers: { cookie } })).status, 403);
  assert.equal((await http.post('/api/web/x', {}, { cookie })).status, 200);
});

test('a body that any site could post is refused', async () => {
  await using http = await setUp();
  const cookie = await http.cookie();
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    assert.equal((await http.post('/api/web/x', {}, { cookie, 'content-type': type })).status, 415, type);
  }
});

test('a body larger than allowed is refused, whether or not it says its length', async () => {
  await using http = await setUp();
  const headers = { host: 'localhost:8642', origin: 'http://localhost:8642', 'content-type': 'application/json' };
  const said = await http.post('/api/login', {}, { 'content-length': String(20 * 1024) });
  assert.equal(said.status, 413);
  const unsaid = await http.app.request('/api/login', { method: 'POST', headers, body: JSON.stringify({ token: 'x'.repeat(20 * 1024) }) });
  assert.equal(unsaid.status, 413);
});

test('webhooks with their own guard need no login, and each guard has its own door', async () => {
  await using http = await setUp();
  const update = await http.ask('/webhooks/telegram@work/update?k=v', { method: 'POST', body: 'hi', headers: { host: 'public.example' }, from: '203.0.113.9' });
  assert.deepEqual(await update.json(), { path: '/update', query: { k: 'v' }, body: 'hi' });
  assert.equal((await http.ask('/webhooks/web/chats')).status, 404);
  const cookie = await http.cookie();
  assert.equal((await http.ask('/api/telegram@work/update', { headers: { cookie } })).status, 404);
  http.webhooks.delete('web');
  assert.equal((await http.ask('/api/web/chats', { headers: { cookie } })).status, 404);
});

test('every answer carries the security headers', async () => {
  await using http = await setUp();
  for (const path of ['/', '/health', '/nowhere', '/api/web/chats']) {
    const { headers } = await http.ask(path);
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'self'; style-src 'self'/, path);
    assert.doesNotMatch(headers.get('content-security-policy') ?? '', /unsafe/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
  }
});

test('an unexpected failure is answered with an id that the log has too', async () => {
  await using http = await setUp();
  const routes = new Hono();
  routes.onError((error) => {
    throw error;
  });
  routes.get('/', () => {
    throw new Error('the secret reason');
  });
  http.webhooks.set('broken', { guard: 'own', routes });
  const answer = await http.ask('/webhooks/broken/');
  assert.equal(answer.status, 500);
  const { error, errorId } = (await answer.json()) as { error: string; errorId: string };
  assert.doesNotMatch(error, /secret/);
  assert.ok(http.lines.some((line) => line.includes(errorId) && line.includes('the secret reason')));
});
