import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { status } from '../src/agent/models/chat-simulator.ts';
import { approveCode } from '../src/access/pairing.ts';
import { program } from '../src/cli/program.ts';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { enqueueDelivery } from '../src/store/messages/outbox.ts';
import { markDead } from '../src/store/messages/gates.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { freePort } from './support/free-port.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

interface Finding {
  readonly area: string;
  readonly level: 'ok' | 'warning' | 'error' | 'skipped';
  readonly text: string;
  readonly fix: string | null;
}

interface Diagnosis {
  readonly ok: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly findings: readonly Finding[];
  readonly left: string;
  readonly out: string;
}

const doctor = async (world: World, ...args: readonly string[]): Promise<Diagnosis> => {
  let out = '';
  let left = '0';
  const terminal = { env: world.env, version: 'test', write: (text: string) => void (out += text), writeError: () => undefined };
  await program(terminal).parseAsync(['node', 'hermes', 'doctor', '--json', '--timeout', '300', ...args]).catch((error: Error) => (left = error.message));
  return { ...(JSON.parse(out) as Omit<Diagnosis, 'left' | 'out'>), left, out };
};

const found = ({ findings }: Diagnosis, area: string): string => findings.filter((finding) => finding.area === area).map(({ level, text, fix }) => `${level}: ${text}${fix === null ? '' : ` -> ${fix}`}`).join('\n');

const withStore = async (world: World, work: (store: Store) => Promise<unknown>): Promise<void> => {
  const store = await openStore({ path: join(world.home, 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false });
  await work(store);
  await store.close();
};

/** Every file of a home with its mode, its time and what is in it. */
const snapshot = async (home: string): Promise<readonly string[]> => {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const { mode, mtimeMs, size } = await stat(path);
    return `${path} ${mode} ${mtimeMs} ${size} ${entry.isFile() ? createHash('sha256').update(await readFile(path)).digest('hex') : ''}`;
  });
  return (await Promise.all(lines)).toSorted();
};

describe('the doctor', { concurrency: true }, () => {
  test('finds a healthy installation healthy, by the evidence of the gateway that runs', async () => {
    await using world = await newWorld({ http: { port: await freePort() } });
    await using _outside = await startOutside(world);
    await world.say('hello');
    await until(() => world.shown().length === 1, 'an answer');
    const calls = world.telegram.log.filter(({ method }) => method === 'getMe').length;
    const ran = await hermes(world, ['doctor']);
    assert.equal(ran.code, 0, ran.out);
    assert.match(ran.out, /The gateway runs \(process \d+\)[^]*The page answers at[^]*Terminals can attach to it[^]*sim-1 \(openai\) answers[^]*telegram is connected as hermes_test_bot[^]*1 person may talk/);
    assert.equal(world.telegram.log.filter(({ method }) => method === 'getMe').length, calls, 'a connection that works is not tried again');
    assert.match(ran.out, /0 errors|Everything is fine/);
  });

  test('says what makes a gateway easy to misuse when asked for that, and calls none of it broken', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: { ...world.telegram.options, allow_all_users: true }, webhook: { routes: { open: { secret: 'INSECURE_NO_AUTH' }, poor: { secret: 'passwordpassword' } } } }, approvals: { mode: 'off', cron_mode: 'approve' }, command_allowlist: ['rm -r'], api_server: { cors_origins: ['https://chat.example'], key: 'aaaaaaaaaaaaaaaaaaaaaaaa' }, http: { token: 'aaaaaaaaaaaaaaaa' } });
    const diagnosis = await doctor(world, '--security', '--offline');
    assert.deepEqual([diagnosis.errors, diagnosis.left], [0, '0']);
    const said = found(diagnosis, 'security');
    for (const words of [/approvals\.mode: off/, /cron_mode/, /Everybody on telegram can let the agent run commands/, /without asking: rm -r/, /ok: The page and the API can be reached from this machine only/, /these webhooks without a secret: webhook\/open/, /Easy to guess: http\.token, api_server\.key, webhook\/poor/]) assert.match(said, words);
    assert.equal(/runs as root/.test(said), process.getuid?.() === 0);
    assert.match(found(diagnosis, 'people'), /allow_all_users/);
    assert.equal(found(diagnosis, 'model'), '', 'nothing else is looked at');
    await using careful = await newWorld();
    assert.doesNotMatch(found(await doctor(careful, '--security', '--offline'), 'security').replaceAll(/^.*(?:credential|as root).*$/gm, ''), /warning/);
  });

  test('asks each credential when no gateway runs, and changes nothing', async () => {
    await using world = await newWorld();
    await withStore(world, (store) => store.read((db) => db.q.selectFrom('inbox').select('id').execute()));
    const before = await snapshot(world.home);
    const seen = await doctor(world);
    assert.match(found(seen, 'accounts'), /ok: telegram: the credential of hermes_test_bot works/);
    assert.match(found(seen, 'model'), /ok: sim-1 \(openai\) answers/);
    assert.match(found(seen, 'gateway'), /warning: The gateway does not run -> hermes gateway run/);
    assert.match(found(seen, 'database'), /ok: SQLite, schema \d+, undamaged/);
    assert.deepEqual([seen.ok, seen.errors, seen.left], [true, 0, '0']);
    assert.deepEqual(await snapshot(world.home), before);
    const offline = await doctor(world, '--offline');
    assert.match(`${found(offline, 'model')}\n${found(offline, 'accounts')}`, /skipped: sim-1[^]*skipped: telegram/);
    assert.equal(world.model.requests.length, 1);
  });

  test('names the fix for everything that is broken, and shows no secret', async () => {
    await using world = await newWorld();
    const server = createServer((socket) => {
      // Whoever asks hangs up when it is no gateway that speaks.
      socket.on('error', () => undefined).end('220 something else\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const key = 'planted0model0key0that0no0pattern0knows';
    const { badOptions } = world.telegram;
    await world.configure({ model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: key }, platforms: { telegram: { ...badOptions } }, http: { port: (server.address() as AddressInfo).port } });
    await writeFile(join(world.home, '.env'), 'SOME_TOKEN=a-token-of-somebody\n');
    await Promise.all([chmod(world.home, 0o755), chmod(join(world.home, '.env'), 0o644)]);
    world.model.otherwise(status(401, { error: { message: `Incorrect API key provided: ${key}` } }));
    const seen = await doctor(world);
    server.close();
    assert.match(found(seen, 'home'), /error: .*\.env holds secrets and can be read by other users.* -> chmod 600 /);
    assert.match(found(seen, 'configuration'), /warning: config\.yaml holds a secret -> /);
    assert.match(found(seen, 'gateway'), /error: Port \d+ on 127\.0\.0\.1 is held by another program -> .*http\.port/);
    assert.match(found(seen, 'model'), /error: sim-1 \(openai\): .*401.* -> The key was refused/);
    assert.match(found(seen, 'accounts'), /error: telegram: .* -> .*hermes setup platform/);
    assert.match(found(seen, 'people'), /warning: telegram: nobody may talk to the agent -> hermes setup owner/);
    assert.equal(seen.left, 'leaving with 1');
    assert.equal(seen.errors, seen.findings.filter(({ level }) => level === 'error').length);
    for (const secret of [key, String(badOptions['token']), 'a-token-of-somebody']) assert.ok(!seen.out.includes(secret), 'a secret was shown');
  });

  test('says what is wrong with a configuration that cannot be used, and goes on with the rest', async () => {
    await using world = await newWorld({ display: { streeming: true } });
    const seen = await doctor(world);
    assert.match(found(seen, 'configuration'), /error: config\.yaml:\d+:\d+ {2}display\.streeming {2}unknown key; did you mean streaming\?/);
    assert.match(found(seen, 'home'), /is yours/);
    assert.equal(world.model.requests.length, 0);
  });

  test('says no more than a warning about an open file in a closed folder', { skip: process.platform === 'win32' && 'modes are those of Unix' }, async () => {
    await using world = await newWorld();
    await chmod(join(world.home, 'config.yaml'), 0o644);
    const seen = await doctor(world, '--offline');
    assert.equal(seen.errors, 0);
    assert.match(found(seen, 'home'), /warning: .*config\.yaml holds secrets, and only its folder keeps other users of this machine from reading it -> chmod 600 /);
  });

  test('mends modes with --fix, and nothing else', async () => {
    await using world = await newWorld();
    const [config, env] = [join(world.home, 'config.yaml'), join(world.home, '.env')];
    await writeFile(env, 'A_TOKEN=x\n');
    await Promise.all([chmod(world.home, 0o755), chmod(config, 0o644), chmod(env, 0o640)]);
    assert.equal((await doctor(world, '--offline')).errors, 2);
    const mended = await doctor(world, '--offline', '--fix');
    assert.equal(mended.errors, 0);
    assert.match(found(mended, 'home'), /\.env .*; mended/);
    assert.deepEqual(await Promise.all([world.home, config, env].map(async (path) => (await stat(path)).mode & 0o777)), [0o700, 0o600, 0o600]);
    assert.equal((await doctor(world, '--offline')).errors, 0);
  });

  test('sees a database that is damaged, newer, or older', async () => {
    await using world = await newWorld();
    const path = join(world.home, 'gateway.db');
    const setVersion = (version: number): void => {
      using db = new DatabaseSync(path);
      db.prepare("update meta set value = ? where key = 'schema_version'").run(String(version));
    };
    await withStore(world, () => Promise.resolve());
    setVersion(9999);
    assert.match(found(await doctor(world, '--offline'), 'database'), /error: The database was written by a newer version \(schema 9999/);
    setVersion(1);
    assert.match(found(await doctor(world, '--offline'), 'database'), /warning: The database is of an older version \(schema 1/);
    await truncate(path, 20_000);
    assert.match(found(await doctor(world, '--offline'), 'database'), /error: .*damaged/);
    await writeFile(path, 'this is no database at all, and long enough to be looked at');
    assert.match(found(await doctor(world, '--offline'), 'database'), /error: .*damaged.* -> .*restore a backup/);
  });

  test('lists what is stuck, unreachable and locked', async () => {
    await using world = await newWorld();
    await withStore(world, async (store) => {
      await store.write(async (tx) => {
        await markDead(tx, { account: 'telegram', chatId: '42', reason: 'the bot was blocked' });
        await enqueueDelivery(tx, { message: { key: 'late', target: { account: 'telegram', chatId: '7', chatType: 'dm' }, text: 'late' } }, {});
      });
      for (let i = 0; i < 5; i += 1) await store.write((tx) => approveCode(tx, { account: 'telegram', text: 'WRONGCOD', approvedBy: 'cli' }));
    });
    const seen = await doctor(world, '--offline');
    assert.match(found(seen, 'work'), /warning: 1 delivery waits for the gateway -> hermes gateway run/);
    assert.match(found(seen, 'work'), /warning: telegram:42 cannot be reached: the bot was blocked/);
    assert.match(found(seen, 'people'), /warning: telegram: approvals by code are locked for \d+ min/);
    assert.equal(seen.left, '0', 'warnings break nothing');
  });

  test('warns of an account that is open to everybody', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: { ...world.telegram.options, allow_all_users: true, allow_bots: 'all' } } });
    assert.match(found(await doctor(world, '--offline'), 'people'), /everybody who finds it may talk[^]*every other bot is heard/);
  });
});
