import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { PlatformError } from '../src/core/errors.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { clauses } from '../src/platforms/conformance.ts';
import { aMoment, eventWith, failure, never, newInbox, NotOffered, openBench, within } from '../src/platforms/conformance-bench.ts';
import type { BenchInbox } from '../src/platforms/conformance-bench.ts';
import type { Adapter, Platform } from '../src/platforms/contract.ts';
import { loadPlatform } from '../src/platforms/load-platform.ts';
import type { IrcSimulator, IrcSimulatorOptions } from '../examples/irc-platform/simulator.ts';
import { freePort } from './support/free-port.ts';
import { openAccountData } from './support/account-data.ts';
import { openStoredData } from './support/stored-data.ts';
import { echo, newWorld, startOutside, until } from './support/whole.ts';

const folder = fileURLToPath(new URL('../examples/irc-platform', import.meta.url));

// As the gateway loads it: its modules find the gateway's parts only this way.
const loaded = await loadPlatform(folder, folder);
const irc: Platform = loaded.ok ? loaded.platform : assert.fail(loaded.problem);
const { startIrcSimulator } = (await import('../examples/irc-platform/simulator.ts')) as { startIrcSimulator(options?: IrcSimulatorOptions): Promise<IrcSimulator> };
const { formatIrc, linesOf, maxLineBytes } = await import('../examples/irc-platform/format.ts');
const { newPace } = await import('../examples/irc-platform/pace.ts');
const { printLine, readLine } = await import('../examples/irc-platform/wire.ts');

describe('the conformance suite', () => {
  test('exceptions are made only of clauses that exist', () => assert.deepEqual(Object.keys(irc.exceptions).filter((name) => !(name in clauses)), []));

  for (const [name, clause] of Object.entries(clauses)) {
    test(name, { skip: irc.exceptions[name] ?? false }, async (t) => {
      const temporary = await mkdtemp(join(tmpdir(), 'hermes-irc-'));
      try {
        await using data = await openStoredData(temporary);
        await using bench = await openBench(irc, { data, folder: temporary });
        await clause(bench);
      } catch (error) {
        if (!(error instanceof NotOffered)) throw error;
        t.skip(error.message);
      } finally {
        await rm(temporary, { recursive: true });
      }
    });
  }
});

interface Connected extends AsyncDisposable {
  readonly adapter: Adapter;
  readonly inbox: BenchInbox;
  readonly name: string;
  readonly ended: Promise<unknown>;
}

const open = (options: Readonly<Record<string, unknown>>): Promise<Adapter> => irc.open({ account: 'irc', options: irc.options.parse(options), log: silentLogger, data: openAccountData(':memory:'), home: folder, mediaFolder: folder });

const start = async (options: Readonly<Record<string, unknown>>, inbox = newInbox()): Promise<Connected> => {
  const adapter = await open(options);
  const stop = new AbortController();
  const identity = await adapter.identify(never);
  const ended = adapter.run(inbox, identity, stop.signal).then(() => undefined, (error: unknown) => error);
  return {
    adapter,
    inbox,
    name: identity.name,
    ended,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
};

const toAlice = { account: 'irc', chatId: 'alice', chatType: 'dm' } as const;

test('lines are read and written as the protocol says', () => {
  const line = readLine('@msgid=a\\sb;empty;+draft/reply=x\\:y :alice!~a@host PRIVMSG #room :hello: there  you') ?? assert.fail();
  assert.deepEqual([line.source, line.command, line.params], ['alice!~a@host', 'PRIVMSG', ['#room', 'hello: there  you']]);
  assert.deepEqual([line.tags.get('msgid'), line.tags.get('empty'), line.tags.get('+draft/reply')], ['a b', '', 'x;y']);
  assert.deepEqual(readLine('PING')?.params, []);
  assert.deepEqual(readLine(':sim 001 hermes :')?.params, ['hermes', '']);
  assert.equal(readLine('\u0000\u0001 what?'), undefined);
  assert.equal(printLine('PRIVMSG', ['#room', 'two\r\nQUIT :lines'], { label: 'a b;c' }), '@label=a\\sb\\:c PRIVMSG #room :two QUIT :lines');
});

test('what is sent is cut into lines that fit, between characters', () => {
  const lines = linesOf(formatIrc(`${'😀'.repeat(200)}\n\nsecond`));
  assert.ok(lines.every((line) => Buffer.byteLength(line) <= maxLineBytes && line.isWellFormed()));
  assert.equal(lines.join(''), `${'😀'.repeat(200)}second`);
  assert.equal(formatIrc('**bold** [docs](https://x.example) `code`'), '\u0002bold\u0002 docs (https://x.example) \u0011code\u0011');
  assert.equal(formatIrc('a\u0003b'), 'a b');
});

test('lines are paced: so many at once, then one after the other', () => {
  const pace = newPace({ burst: 3, lineMs: 1000 });
  assert.deepEqual([pace(2, 0), pace(1, 0), pace(1, 0)], [0, 0, 1000]);
  assert.deepEqual([pace(1, 1000), pace(2, 1500)], [0, 1500]);
  assert.equal(newPace({ burst: 3, lineMs: 1000 })(10, 0), 0);
});

test('more than the server bears is not sent, and the caller is told how long to wait', async () => {
  await using simulator = await startIrcSimulator();
  await using connected = await start({ ...simulator.options, burst: 1, line_seconds: 60 });
  await connected.adapter.send({ key: '1', target: toAlice, text: 'one' }, never);
  const error = await failure(connected.adapter.send({ key: '2', target: toAlice, text: 'two' }, never), 'rate_limited');
  assert.ok((error.facts.retryAfterMs ?? 0) > 15_000 && error.facts.scope === 'account');
  assert.equal(simulator.visible('alice').length, 1);
});

test('a nick that is taken gets an underscore, and too many of them are a conflict', async () => {
  await using simulator = await startIrcSimulator({ taken: ['hermes', 'hermes_'] });
  await using connected = await start(simulator.options);
  assert.equal(connected.name, 'hermes__');
  await simulator.say({ chatId: '#room', chatType: 'group', senderId: 'alice', text: 'and you?', mention: true });
  assert.ok((await eventWith(connected.inbox, 'and you?')).mentioned);
  await using full = await startIrcSimulator({ taken: ['hermes', 'hermes_', 'hermes__', 'hermes___'] });
  await failure((await open(full.options)).identify(never), 'conflict');
});

test('a server that knows nothing but the old protocol is understood, and so is what it refuses', async () => {
  await using simulator = await startIrcSimulator({ capabilities: [] });
  await using connected = await start(simulator.options);
  await simulator.say({ chatId: 'alice', chatType: 'dm', senderId: 'alice', text: 'hello' });
  const event = await eventWith(connected.inbox, 'hello');
  assert.equal(event.sender.id, 'alice!~alice@203.0.113.7');
  const { messageIds } = await connected.adapter.send({ key: '1', target: toAlice, text: 'one\ntwo' }, never);
  assert.equal(messageIds.length, 2);
  assert.deepEqual(simulator.visible('alice').map(({ text }) => text), ['one', 'two']);
  simulator.fail({ what: 'send', fault: { type: 'status', status: 403 } });
  await failure(connected.adapter.send({ key: '2', target: toAlice, text: 'three' }, never), 'forbidden');
});

test('whoever takes somebody’s nick is not taken for them', async () => {
  await using simulator = await startIrcSimulator();
  await using connected = await start(simulator.options);
  await simulator.say({ chatId: 'alice', chatType: 'dm', senderId: 'alice', text: 'it is me' });
  await simulator.replay(':alice!~mallory@198.51.100.9 PRIVMSG hermes :it is me, honestly');
  assert.equal((await eventWith(connected.inbox, 'it is me')).sender.id, 'alice');
  assert.equal((await eventWith(connected.inbox, 'it is me, honestly')).sender.id, 'alice!~mallory@198.51.100.9');
});

test('what is said between the greeting and the first look is not lost', async () => {
  await using simulator = await startIrcSimulator();
  const adapter = await open(simulator.options);
  const identity = await adapter.identify(never);
  await simulator.say({ chatId: 'alice', chatType: 'dm', senderId: 'alice', text: 'early' });
  await aMoment();
  const inbox = newInbox();
  const stop = new AbortController();
  const running = adapter.run(inbox, identity, stop.signal);
  await eventWith(inbox, 'early');
  stop.abort();
  await running;
});

test('an inbox that cannot store ends receiving with its error', async () => {
  await using simulator = await startIrcSimulator();
  const inbox = newInbox();
  inbox.before = () => Promise.reject(new Error('the disk is full'));
  await using connected = await start(simulator.options, inbox);
  await simulator.say({ chatId: 'alice', chatType: 'dm', senderId: 'alice', text: 'hello' });
  assert.match(String(await within(60_000, connected.ended, 'ending')), /the disk is full/);
});

test('a message of several lines that breaks off in the middle is neither sent nor failed', async () => {
  await using simulator = await startIrcSimulator();
  await using connected = await start(simulator.options);
  simulator.fail({ what: 'send', fault: { type: 'delay', ms: 0 } });
  simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 1000 } });
  await failure(connected.adapter.send({ key: '1', target: toAlice, text: 'one\ntwo' }, never), 'unknown_outcome');
  assert.deepEqual(simulator.visible('alice').map(({ text }) => text), ['one']);
});

// For this test alone; nobody else trusts it.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgxLqRDzDv9Yh84onR
BFIpgmNaWYcyYicSl+LzFnolr+ShRANCAAT8uh+CV5KNmKhmWnh3C6o2kEoqBnYA
+bJ7sbJRQrY+RANgrm78SBkOvfeUOmytb8djIhB2WhVB+Ct3MWZmb8oU
-----END PRIVATE KEY-----`;
const cert = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUchRI58iW2QDcXUkvGeLQSxuzdy4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTE2MTIyNVoYDzIxMjYxMDIy
MTYxMjI1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT8uh+CV5KNmKhmWnh3C6o2kEoqBnYA+bJ7sbJRQrY+RANgrm78SBkO
vfeUOmytb8djIhB2WhVB+Ct3MWZmb8oUo28wbTAdBgNVHQ4EFgQUyxphJ/YD5Cg0
Gl42anWWM12RZ6gwHwYDVR0jBBgwFoAUyxphJ/YD5Cg0Gl42anWWM12RZ6gwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgBh0FKGGfEsDf8brV4XKuG8ScXaEc/ZDhpyfJvMA50NQCIQDd
V77sZAh9w12/wv1A4+DbJwqKVVL2T+VwFmc6dipvbQ==
-----END CERTIFICATE-----`;

test('the connection is encrypted, and only with a server that can prove itself', async () => {
  await using simulator = await startIrcSimulator();
  const temporary = await mkdtemp(join(tmpdir(), 'hermes-irc-'));
  const server = createTlsServer({ key, cert }, (socket) => {
    const inner = connect(Number(simulator.options['port']), '127.0.0.1');
    socket.pipe(inner).pipe(socket);
    socket.on('error', () => inner.destroy());
    inner.on('error', () => socket.destroy());
  });
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const options = { ...simulator.options, server: 'localhost', port: (server.address() as AddressInfo).port, tls: true };
    await failure((await open(options)).identify(never), 'unavailable');
    await writeFile(join(temporary, 'ca.pem'), cert);
    const adapter = await open({ ...options, ca_file: join(temporary, 'ca.pem') });
    const identity = await adapter.identify(never);
    assert.equal(identity.name, 'hermes');
    const stop = new AbortController();
    const running = adapter.run(newInbox(), identity, stop.signal);
    await adapter.send({ key: '1', target: toAlice, text: 'secretly' }, never);
    assert.deepEqual(simulator.visible('alice').map(({ text }) => text), ['secretly']);
    stop.abort();
    await running;
  } finally {
    server.close();
    await rm(temporary, { recursive: true });
  }
});

test('the gateway runs a platform from outside like its own, and one that cannot be loaded disables nothing else', async () => {
  await using simulator = await startIrcSimulator();
  await using world = await newWorld();
  await writeFile(join(world.home, 'broken.ts'), 'export const platform = { name: "broken" };\n');
  const platforms = { telegram: { ...world.telegram.options, allowed_users: ['7'] }, irc: { ...simulator.options, allowed_users: ['alice'] }, broken: { anything: true } };
  await world.configure({ platforms, plugins: { platforms: [folder, './broken.ts'] } });
  await using gateway = await startOutside(world);
  await simulator.say({ chatId: 'alice', chatType: 'dm', senderId: 'alice', text: 'hello' });
  await until(() => simulator.visible('alice').length > 0, 'IRC to answer');
  await simulator.say({ chatId: '#room', chatType: 'group', senderId: 'alice', text: 'and here', mention: true });
  await until(() => simulator.visible('#room').length > 0, 'the channel to get an answer');
  assert.deepEqual([simulator.visible('alice')[0]?.text, simulator.visible('#room')[0]?.text], ['re: hello', 're: and here']);
  // The connection breaks while nobody speaks; the gateway comes back by itself.
  simulator.fail({ what: 'receive', fault: { type: 'refuse' } });
  await simulator.say({ chatId: 'alice', chatType: 'dm', senderId: 'alice', text: 'again' });
  await until(() => simulator.visible('alice').length > 1, 'IRC to answer again');
  // It breaks while the agent is thinking; the answer goes over the next connection.
  const thinking = Promise.withResolvers<void>();
  world.model.next((response, request) => void thinking.promise.then(() => echo(response, request)));
  const asked = world.model.requests.length;
  await simulator.say({ chatId: 'alice', chatType: 'dm', senderId: 'alice', text: 'slowly' });
  await until(() => world.model.requests.length > asked, 'the model to be asked');
  const breaks = (): number => gateway.output().split('account.disconnected').length;
  const before = breaks();
  simulator.fail({ what: 'receive', fault: { type: 'refuse' } });
  await until(() => breaks() > before && simulator.nicks().length === 1, 'the gateway to come back');
  thinking.resolve();
  await until(() => simulator.visible('alice').length > 2, 'IRC to get the answer');
  assert.deepEqual(simulator.visible('alice').map(({ text }) => text), ['re: hello', 're: again', 're: slowly']);
  await world.say('still there?');
  await until(() => world.shown().length === 1, 'Telegram to answer');
  assert.match(gateway.output(), /platforms\.broken.*could not be loaded.*broken\.ts: .*label must be a text/);
});

const ngircd = await new Promise<string | undefined>((resolve) => {
  const named = process.env['NGIRCD'];
  if (named !== undefined) return resolve(named);
  return execFile('sh', ['-c', 'command -v ngircd'], (error, stdout) => resolve(error === null ? stdout.trim() : undefined));
});

test('two accounts talk to each other through ngircd', { skip: ngircd === undefined ? 'ngircd is not installed here (apt install ngircd, or NGIRCD=<path>)' : false }, async () => {
  const temporary = await mkdtemp(join(tmpdir(), 'hermes-ngircd-'));
  const port = await freePort();
  await writeFile(join(temporary, 'ngircd.conf'), `[Global]\nName = irc.example.org\nInfo = test\nListen = 127.0.0.1\nPorts = ${port}\nPidFile = ${temporary}/pid\nPassword = opensesame\n[Limits]\nMaxConnectionsIP = 0\n[Options]\nIdent = no\nPAM = no\nDNS = no\n`);
  const server = spawn(ngircd ?? '', ['-n', '-f', join(temporary, 'ngircd.conf')], { stdio: 'ignore' });
  try {
    await until(() => new Promise<boolean>((resolve) => void connect(port, '127.0.0.1').once('connect', function (this: { destroy(): void }) { this.destroy(); resolve(true); }).once('error', () => resolve(false))), 'ngircd to listen');
    const options = { server: '127.0.0.1', port, tls: false, channels: ['#Room'], password: 'opensesame', trust_nicks: true, burst: 100, line_seconds: 0 };
    await failure((await open({ ...options, password: 'wrong' })).identify(never), 'bad_credential', 'unavailable');
    await using hermes = await start({ ...options, nick: 'hermes' });
    await using twin = await start({ ...options, nick: 'hermes' });
    assert.deepEqual([hermes.name, twin.name], ['hermes', 'hermes_']);
    await aMoment();
    const room = { account: 'irc', chatId: '#room', chatType: 'group' } as const;
    await twin.adapter.send({ key: '1', target: room, text: 'hermes: are you there?' }, never);
    const asked = await eventWith(hermes.inbox, 'are you there?');
    assert.deepEqual([asked.chat.id, asked.sender.id, asked.mentioned], ['#room', 'hermes_', true]);
    const long = '😀'.repeat(Math.floor(maxLineBytes / 4));
    await hermes.adapter.send({ key: '2', target: { ...toAlice, chatId: 'hermes_' }, text: long }, never);
    assert.equal((await eventWith(twin.inbox, long)).chat.type, 'dm');
    await failure(hermes.adapter.send({ key: '3', target: { ...toAlice, chatId: 'nobody' }, text: 'hello?' }, never), 'chat_gone');
    await failure(hermes.adapter.send({ key: '4', target: { ...room, chatId: '#elsewhere' }, text: 'hello?' }, never), 'chat_gone', 'forbidden');
    server.kill('SIGKILL');
    assert.ok((await within(60_000, hermes.ended, 'noticing')) instanceof PlatformError);
  } finally {
    server.kill('SIGKILL');
    await rm(temporary, { recursive: true });
  }
});
