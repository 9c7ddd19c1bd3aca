import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { raw, status } from '../src/agent/models/chat-simulator.ts';
import { program } from '../src/cli/program.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const launcher = fileURLToPath(new URL('../bin/hermes.js', import.meta.url));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command as people run it. One that does not end by itself is ended. */
const hermes = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(process.execPath, [launcher, ...args], { env: { ...process.env, ...env }, timeout: 60_000 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err });
    });
  });

/** The same command inside this process, which is much faster; answers what it prints. */
const print = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  await program({ env, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return out;
};

/** Everything wrong with a home or a machine is said in one sentence, without a stack; the code says whether it may pass by itself. */
const assertRefusal = (ran: Ran, sentence: RegExp, code: 1 | 78 = 78): void => {
  assert.equal(ran.code, code, ran.err);
  assert.match(ran.err, sentence);
  assert.ok(!/\n\s+at /.test(ran.err), ran.err);
};

const configure = (world: World, port: number) => world.configure({ http: { port } });

describe('the program', { concurrency: true }, () => {
  describe('the command', { concurrency: true }, () => {
    test('refuses a port that is taken, with one sentence, before it tells any platform that it is here', async () => {
      await using world = await newWorld();
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        await configure(world, (server.address() as AddressInfo).port);
        assertRefusal(await hermes(['gateway', 'run'], world.env), /port/i, 1);
        assert.equal(world.telegram.log.length, 0);
      } finally {
        server.close();
      }
    });

    test('refuses a home that is a file', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'hermes-cli-'));
      try {
        const home = join(folder, 'home');
        await writeFile(home, 'not a folder');
        assertRefusal(await hermes(['gateway', 'run'], { HERMES_HOME: home }), /home/);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    test('refuses a second gateway in one home, while the first goes on; other commands work beside it', async () => {
      await using world = await newWorld();
      await using _outside = await startOutside(world);
      await world.say('the quick brown fox');
      await until(() => world.shown().length === 1, 'an answer');
      const [second, shown] = await Promise.all([hermes(['gateway', 'run'], world.env), hermes(['status'], world.env)]);
      assertRefusal(second, /Another gateway is already running/, 1);
      assert.match(shown.out, /Gateway\s+running/);
      assert.match(shown.out, /telegram\s+connected/);
      const show = (...args: readonly string[]): Promise<string> => print(args, world.env);
      const read = async <T>(...args: readonly string[]): Promise<T> => JSON.parse(await show(...args, '--json')) as T;
      const facts = await read<{ running: boolean; accounts: { account: string; state: string }[] }>('status');
      assert.equal(facts.running, true);
      assert.equal(facts.accounts.find(({ account }) => account === 'telegram')?.state, 'connected');
      const [session] = await read<{ id: string; messageCount: number }[]>('sessions', 'list');
      assert.equal(session?.messageCount, 2);
      const { id } = session;
      assert.match(await show('sessions', 'list'), new RegExp(id));
      assert.equal((await read<{ sessionId: string }[]>('sessions', 'search', 'brown'))[0]?.sessionId, id);
      assert.match(await show('sessions', 'show', id), /the quick brown fox[^]*re: the quick brown fox/);
      assert.equal((await read<{ messages: unknown[] }>('sessions', 'show', id)).messages.length, 2);
      assert.match(await show('sessions', 'export', id), /### user[^]*the quick brown fox[^]*### assistant/);
      const lines = (await show('sessions', 'export', id, '--format', 'jsonl')).trim().split('\n');
      assert.deepEqual(lines.map((line) => (JSON.parse(line) as { content: string }).content), ['the quick brown fox', 're: the quick brown fox']);
      assert.match(await show('config', 'check'), /The configuration is fine/);
      assert.equal((await read<{ ok: boolean }>('config', 'check')).ok, true);
      await world.say('still there?');
      await until(() => world.shown().length === 2, 'the first gateway to answer');
    });

    test('says that no gateway runs, and what is wrong with a configuration, with file and line', async () => {
      await using world = await newWorld();
      assert.equal((JSON.parse(await print(['status', '--json'], world.env)) as { running: boolean }).running, false);
      await world.configure({ display: { streeming: true } });
      const [checked, started] = await Promise.all([hermes(['config', 'check', '--json'], world.env), hermes(['gateway', 'run'], world.env)]);
      assert.equal(checked.code, 78);
      const { ok, problems } = JSON.parse(checked.out) as { ok: boolean; problems: { file: string; line: number; path: string }[] };
      assert.equal(ok, false);
      assert.deepEqual([problems[0]?.file, problems[0]?.path, typeof problems[0]?.line], ['config.yaml', 'display.streeming', 'number']);
      assertRefusal(started, /config\.yaml:\d+.*streeming/);
    });

    test('explains itself', async () => {
      const env = { HERMES_HOME: join(tmpdir(), 'hermes-home-that-is-not-needed') };
      const explain = async (...args: readonly string[]): Promise<void> => {
        const ran = await hermes([...args, '--help'], env);
        assert.equal(ran.code, 0, args.join(' '));
        assert.ok(ran.out.startsWith(`Usage: ${['hermes', ...args].join(' ')}`), ran.out);
      };
      await Promise.all([explain(), explain('gateway'), explain('status'), explain('trace'), explain('sessions', 'export'), explain('config'), explain('login')]);
      const unknown = await hermes(['bananas'], env);
      assert.equal(unknown.code, 1);
      assert.match(unknown.err, /unknown command/);
      const mistyped = await Promise.all([['gateway', 'frobnicate'], ['gateway', 'sart'], ['gateway', 'run', 'now']].map((args) => hermes(args, env)));
      assert.deepEqual(mistyped.map(({ code, err }) => [code, err]), [
        [1, "error: unknown command 'frobnicate'\n(hermes gateway --help lists all of them.)\n"],
        [1, "error: unknown command 'sart'\n(Did you mean start?)\n"],
        [1, "error: 'run' takes no arguments, and got 'now'\n"],
      ]);
    });
  });

  describe('secrets', { concurrency: true }, () => {
    test('never reach a log, an output or an answer, whatever fails', async () => {
      await using world = await newWorld();
      const key = 'planted0model0key0that0no0pattern0knows';
      await world.configure({ model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: key, max_retries: 0 }, display: { busy_input_mode: 'queue', busy_ack_enabled: false } });
      const { token } = world.telegram;
      await using outside = await startOutside(world, { HERMES_LOG_LEVEL: 'debug' });
      // A server that hands back what it was sent is the worst case for an error message.
      world.model.next(status(401, { error: { message: `Incorrect API key provided: ${key}` } }), status(500, `Bearer ${key}`), raw([`data: ${key}\n\n`], { then: 'cut' }));
      for (const text of ['one', 'two', 'three']) await world.say(text);
      await until(() => world.shown().length === 3, 'three sentences');
      world.telegram.fail({ what: 'send', fault: { type: 'garbage' } });
      await world.say('four');
      await until(() => outside.output().includes('delivery.not_sent'), 'a failed delivery');
      const printed = await Promise.all([['status'], ['status', '--json'], ['config', 'show'], ['config', 'show', '--json']].map((args) => print(args, world.env)));
      world.telegram.fail({ what: 'receive', fault: { type: 'status', status: 401, description: `Unauthorized: https://api.telegram.org/bot${token}/getUpdates` } });
      await until(() => outside.output().includes('account.disconnected'), 'a failed connection');
      await outside.stop();
      const logs = await Promise.all((await readdir(join(world.home, 'logs'))).map((name) => readFile(join(world.home, 'logs', name), 'utf8')));
      const everything = [outside.output(), ...logs, ...printed, ...world.shown()];
      assert.ok(logs.join('').includes('"level":"debug"'), 'the log is as talkative as it gets');
      for (const secret of [token, key]) for (const text of everything) assert.ok(!text.includes(secret), text.slice(Math.max(0, text.indexOf(secret) - 300), text.indexOf(secret) + 20));
    });
  });
});

test('whoever stops reading gets no stack trace', { skip: process.platform === 'win32' && 'there is no /bin/sh' }, async () => {
  await using world = await newWorld();
  const ended = (command: string): string => execFileSync('/bin/sh', ['-c', `${command} 2>"$ERRORS"; cat "$ERRORS"`], { encoding: 'utf8', env: { ...process.env, ...world.env, ERRORS: join(world.home, 'errors') } });
  const launcher = fileURLToPath(new URL('../bin/hermes.js', import.meta.url));
  assert.equal(ended(`"${process.execPath}" "${launcher}" --help | true`), '');
});
