import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { StoreError } from '../src/core/errors.ts';
import { freePort } from './support/free-port.ts';
import { peek } from './support/scenes.ts';
import { hermes, openPiped } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { Outside, World } from './support/whole.ts';

const minute = 60_000;

/** As if it had last written something down so long ago. */
const age = (world: World, ms: number): Promise<void> =>
  peek(world, (store) =>
    store.write(async (tx) => {
      await tx.q.updateTable('nodes').set((eb) => ({ seen_at: eb('seen_at', '-', ms) })).execute();
      await tx.q.updateTable('accounts').set((eb) => ({ updated_at: eb('updated_at', '-', ms) })).execute();
    }),
  );

/** Stops it, and lets it seem to have been so for a while. */
const hang = (world: World, gateway: Outside): Promise<void> =>
  until(async () => {
    gateway.child.kill('SIGSTOP');
    try {
      await age(world, 3 * minute);
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      gateway.child.kill('SIGCONT');
      return false;
    }
  }, 'it to stop in a moment in which it writes nothing');

interface Shown {
  readonly running: boolean;
  readonly silent_ms: number | null;
  readonly accounts: readonly { readonly account: string; readonly state: string; readonly detail?: string }[];
}

const stateOf = async (world: World): Promise<{ readonly code: number | null; readonly shown: Shown; readonly telegram: string | undefined }> => {
  const { code, out } = await hermes(world, ['status', '--json']);
  const shown = JSON.parse(out) as Shown;
  return { code, shown, telegram: shown.accounts.find(({ account }) => account === 'telegram')?.state };
};

test('a gateway that hangs is not said to run, its accounts are not said to be connected, and nobody else is blamed', { skip: process.platform === 'win32' && 'there is no SIGSTOP' }, async () => {
  await using base = await newWorld({ http: { port: await freePort() } });
  const world = { ...base, env: { ...base.env, XDG_STATE_HOME: join(base.home, 'state') } };
  await using gateway = await startOutside(world);
  await until(async () => (await stateOf(world)).telegram === 'connected', 'the account to be connected');
  await age(world, 3 * minute);
  const slow = await stateOf(world);
  assert.deepEqual([slow.code, slow.shown.silent_ms, slow.telegram], [0, null, 'connected'], 'one that answers at its door is well');
  await hang(world, gateway);
  const hung = await stateOf(world);
  assert.deepEqual([hung.code, hung.shown.running, hung.telegram], [1, true, 'unknown']);
  assert.ok((hung.shown.silent_ms ?? 0) >= 3 * minute - 10_000, String(hung.shown.silent_ms));
  const status = await hermes(world, ['gateway', 'status']);
  assert.equal(status.code, 1);
  assert.match(status.out, new RegExp(`^Gateway  does not answer for \\d+ min, process ${gateway.child.pid ?? 0} \\(hermes gateway dump .*hermes gateway stop --force`));
  assert.doesNotMatch(status.out, /running|connected/);
  const listed = await hermes(world, ['gateway', 'list']);
  assert.match(listed.out + listed.err, /does not answer for \d+ min.*stop --force/);
  const { out: diagnosis, code } = await hermes(world, ['doctor', '--offline']);
  assert.equal(code, 1);
  assert.match(diagnosis, /The gateway does not answer for \d+ min[^]*hermes gateway stop --force/);
  assert.doesNotMatch(diagnosis, /another program|The gateway runs|is connected/);
});

test('what a gateway says when it is asked counts more than what it could last write down', async () => {
  await using base = await newWorld({ http: { port: await freePort() } });
  const world = { ...base, env: { ...base.env, XDG_STATE_HOME: join(base.home, 'state') } };
  await using _gateway = await startOutside(world);
  await until(async () => (await stateOf(world)).telegram === 'connected', 'the account to be connected');
  await peek(world, (store) => store.write((tx) => tx.q.updateTable('accounts').set({ state: 'refused', error_code: 'bad_credential', error: 'of yesterday' }).where('account', '=', 'telegram').execute()));
  const { out } = await hermes(world, ['status']);
  assert.match(out, /telegram +connected/);
  assert.doesNotMatch(out, /of yesterday|What to do/);
});

test('what troubled an account is over when no gateway runs any more; every home of this user is shown with its name', async () => {
  await using base = await newWorld();
  const world = { ...base, env: { ...base.env, XDG_STATE_HOME: join(base.home, 'state') } };
  assert.equal((await hermes(world, ['gateway', 'status', '--all'])).out, 'This user has run no gateway yet.\n');
  await using gateway = await startOutside(world);
  await gateway.stop();
  await peek(world, (store) => store.write((tx) => tx.q.updateTable('accounts').set({ state: 'conflict', error_code: 'conflict', error: 'of yesterday' }).where('account', '=', 'telegram').execute()));
  const all = await hermes(world, ['gateway', 'status', '--all']);
  assert.match(all.out, new RegExp(`^${world.home}\nGateway  not running[^]*telegram +stopped`));
  assert.doesNotMatch(all.out, /of yesterday/);
  const [shown] = JSON.parse((await hermes(world, ['status', '--all', '--json'])).out) as readonly (Shown & { readonly home: string })[];
  assert.deepEqual([shown?.home, shown?.running, shown?.accounts.find(({ account }) => account === 'telegram')?.detail], [world.home, false, undefined]);
});

test('who watches the status as JSON gets one line for each look', async () => {
  await using world = await newWorld();
  await using watching = openPiped(world, ['status', '--watch', '--json']);
  await until(() => watching.out().split('\n').length > 2, 'two looks');
  for (const line of watching.out().split('\n').slice(0, -1)) assert.equal((JSON.parse(line) as Shown).running, false);
});

test('who watches the status goes on watching while the database cannot be read, and is told', async () => {
  await using world = await newWorld();
  await using watching = openPiped(world, ['status', '--watch', '--json']);
  const last = (): string => watching.out().split('\n').at(-2) ?? '';
  await until(() => last().startsWith('{"running":false'), 'the first look');
  await writeFile(join(world.home, 'gateway.db'), 'no database at all, but something that has stood in its place for a moment'.repeat(20));
  await until(() => last().startsWith('{"error":"'), 'the trouble');
  await rm(join(world.home, 'gateway.db'));
  await until(() => last().startsWith('{"running":false'), 'it to be over');
});

interface Ready {
  readonly ready: boolean;
  readonly accounts: readonly { readonly account: string; readonly state: string; readonly required?: boolean; readonly last_evidence: string | null }[];
}

test('an account that the gateway can do without does not make it unready, and says that nothing was ever heard of it', async () => {
  await using world = await newWorld();
  const refused = { ...world.telegram.badOptions, allowed_users: ['7'] };
  await world.configure({ platforms: { telegram: { ...refused, required: false } } });
  await using gateway = await startOutside(world);
  const url = /"url":"([^"]+)"/.exec(gateway.output())?.[1] ?? '';
  const look = async (): Promise<{ readonly status: number; readonly shown: Ready }> => {
    const response = await fetch(`${url}/ready`);
    return { status: response.status, shown: (await response.json()) as Ready };
  };
  await until(async () => (await look()).shown.accounts.some(({ account, state }) => account === 'telegram' && state === 'refused') && (await look()).status === 200, 'the account to be refused, and the rest to be ready');
  const said = (await look()).shown.accounts.find(({ account }) => account === 'telegram');
  assert.partialDeepStrictEqual(said, { state: 'refused', required: false, last_evidence: null });
  const printed = (await stateOf(world)).shown.accounts.find(({ account }) => account === 'telegram') ?? {};
  assert.deepEqual(Object.keys(printed).filter((key) => key !== 'required').toSorted(), Object.keys(said ?? {}).filter((key) => key !== 'required').toSorted(), 'the door and the command describe an account in the same words');
  await world.configure({ platforms: { telegram: refused } });
  await until(async () => (await look()).status === 503, 'it to count again');
});

test('what another gateway says at the port that the configuration names is not taken for the word of this one', { skip: process.platform === 'win32' && 'there is no SIGSTOP' }, async (t) => {
  const other = createServer((_request, response) => void response.end(JSON.stringify({ status: 'ok', version: '1', uptime_s: 1, ready: false, pid: process.pid, accounts: [{ account: 'telegram', state: 'refused', detail: 'somebody else', code: 'auth' }] })));
  await once(other.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    other.closeAllConnections();
    other.close();
  });
  await using base = await newWorld({ http: { port: (other.address() as AddressInfo).port } });
  const world = { ...base, env: { ...base.env, XDG_STATE_HOME: join(base.home, 'state') } };
  await using gateway = await startOutside(world, { HERMES_HTTP_PORT: String(await freePort()) });
  await until(async () => (await stateOf(world)).telegram === 'connected', 'the account to be connected');
  assert.equal((JSON.parse((await hermes(world, ['status', '--json'])).out) as { readonly ready: unknown }).ready, null);
  await hang(world, gateway);
  assert.equal((await stateOf(world)).code, 1);
});
