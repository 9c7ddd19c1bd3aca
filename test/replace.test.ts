import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { signCall } from '../src/platforms/webhook/sign.ts';
import { freePort } from './support/free-port.ts';
import { heldAnswer, inboxRows, peek } from './support/scenes.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const secret = 'whsec_c2ltdWxhdGVkIHdlYmhvb2sgc2VjcmV0';

interface Called {
  readonly world: World;
  readonly port: number;
}

/** A gateway that programs call at a fixed port. */
const newCalledWorld = async (more: Readonly<Record<string, unknown>> = {}): Promise<Called & AsyncDisposable> => {
  const base = await newWorld();
  const world = { ...base, env: { ...base.env, XDG_STATE_HOME: join(base.home, 'state') } };
  const port = await freePort();
  await world.configure({ http: { port }, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', '8'] }, webhook: { routes: { note: { secret, rate_limit: 10_000, prompt: '{text}', deliver: 'telegram:7', deliver_only: true } } } }, ...more });
  return { world, port, [Symbol.asyncDispose]: () => base[Symbol.asyncDispose]() };
};

/** A new connection for every call; answers the status when it was taken, or what came instead. */
const call = (port: number, id: string): Promise<number | string> =>
  new Promise((resolve) => {
    const body = JSON.stringify({ text: id });
    const headers = { 'content-type': 'application/json', ...signCall({ scheme: 'standard', secret, id, nowMs: Date.now(), body }) };
    const sent = request({ port, host: '127.0.0.1', path: '/webhooks/webhook/note', method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (data: Buffer) => (text += data.toString()));
      response.once('end', () => resolve(response.statusCode === 200 || response.statusCode === 202 ? response.statusCode : `${response.statusCode} ${text}`));
    });
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(body);
  });

/** The node that receives from Telegram. */
const holderOf = (world: World): Promise<string | null> => peek(world, async (store) => (await store.read((db) => db.q.selectFrom('accounts').select('owner').where('account', '=', 'telegram').executeTakeFirstOrThrow())).owner);

/** Calls again and again until told to stop; answers every outcome. */
const callOn = async (port: number, name: string, signal: AbortSignal): Promise<readonly (number | string)[]> => {
  const outcomes: (number | string)[] = [];
  while (!signal.aborted) {
    const id = `${name}-${outcomes.length}`;
    const outcome = await call(port, id);
    // A connection that reaches a listener in the very moment in which it closes is cut; whoever calls a webhook tries that again.
    outcomes.push(outcome === 'ECONNRESET' ? await call(port, id) : outcome);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return outcomes;
};

describe('hermes gateway run --replace', { concurrency: true, skip: process.platform !== 'linux' && 'two processes cannot share a port here' }, () => {
  test('refuses nobody while one takes over from the other, and what the first is doing is done by it', async () => {
    // Its turn ends before its time.
    await using scene = await newCalledWorld({ agent: { restart_drain_timeout: 600 } });
    const { world, port } = scene;
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await using first = await startOutside(world);
    await world.say('slowly');
    await until(() => slow.held() === 1, 'a turn to run');
    const holder = await holderOf(world);
    const over = new AbortController();
    const callers = ['a', 'b', 'c', 'd'].map((name) => callOn(port, name, over.signal));
    const starting = startOutside(world, {}, ['--replace']);
    starting.catch(() => over.abort());
    await until(() => first.output().includes('"gateway.stopping"'), 'the first to be told');
    assert.match(first.output(), /"why":"replaced"/);
    await until(async () => ![holder, null].includes(await holderOf(world)), 'the second to have the account');
    await world.say('who is there?', { chatId: '8', senderId: '8' });
    await until(() => world.shown('8').includes('re: who is there?'), 'the second to answer');
    assert.equal(first.child.exitCode, null, 'the first still has its turn');
    over.abort();
    slow.open();
    await using second = await starting;
    await until(() => first.child.exitCode === 0, 'the first to have ended');
    const outcomes = (await Promise.all(callers)).flat();
    assert.ok(outcomes.length > 10, `${outcomes.length} calls`);
    assert.deepEqual(outcomes.filter((outcome) => typeof outcome === 'string'), []);
    await until(async () => (await peek(world, inboxRows)).filter(({ account }) => account === 'webhook').length === outcomes.length, 'every call to be stored');
    assert.equal(world.shown().filter((text) => text === 're: slowly').length, 1);
    assert.equal(world.shown().some((text) => text.startsWith('⏸️')), false);
    assert.match((await hermes(world, ['gateway', 'status'])).out, new RegExp(`^Gateway  running, process ${second.child.pid ?? 0}, `));
    assert.equal(await second.stop(), 0);
  });

  test('ends one that is stuck by force, and takes up what it was doing', async () => {
    await using scene = await newCalledWorld({ agent: { restart_drain_timeout: 0 } });
    const { world } = scene;
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await using first = await startOutside(world);
    await world.say('slowly');
    await until(() => slow.held() === 1, 'a turn to run');
    first.child.kill('SIGSTOP');
    const starting = startOutside(world, {}, ['--replace']);
    await until(() => first.child.signalCode !== null, 'the first to be ended', 110_000);
    await using _second = await starting;
    await until(() => world.shown().length === 1, 'the answer of the second');
    assert.deepEqual([first.child.signalCode, ...world.shown()], ['SIGKILL', 're: slowly']);
  });

  test('comes after another that takes over at the same time, and both are followed by the next', async () => {
    await using scene = await newCalledWorld();
    const { world } = scene;
    await using first = await startOutside(world);
    await using second = await startOutside(world, {}, ['--replace']);
    const [one, other] = await Promise.all([startOutside(world, {}, ['--replace']), startOutside(world, {}, ['--replace'])]);
    await using _one = one;
    await using _other = other;
    await until(() => [first, second, one, other].filter(({ child }) => child.exitCode === null).length === 1, 'one to be left');
    const left = one.child.exitCode === null ? one : other;
    for (const { child, output } of [one, other, second]) if (child !== left.child) await until(() => output().includes('"why":"replaced"'), 'it to have said why it ended');
    await world.say('who is there?');
    await until(() => world.shown().includes('re: who is there?'), 'an answer');
    assert.doesNotMatch(left.output(), /"code":"conflict"/);
    assert.equal(await left.stop(), 0);
  });

  test('is stopped with the one that it takes over from', async () => {
    await using scene = await newCalledWorld({ agent: { restart_drain_timeout: 600 } });
    const { world } = scene;
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await using first = await startOutside(world);
    await world.say('slowly');
    await until(() => slow.held() === 1, 'a turn to run');
    const starting = startOutside(world, {}, ['--replace']);
    await until(() => first.output().includes('"why":"replaced"'), 'the first to be told');
    const stopping = hermes(world, ['gateway', 'stop']);
    slow.open();
    await using second = await starting;
    assert.deepEqual((await stopping).out, `The gateway of ${world.home} has ended.\n`);
    await until(() => second.child.exitCode === 0 && first.child.exitCode === 0, 'both to have ended');
    assert.deepEqual(JSON.parse((await hermes(world, ['gateway', 'list', '--json'])).out), [{ home: world.home, state: 'stopped', pid: null }]);
    assert.deepEqual(world.shown(), ['re: slowly']);
  });

  test('does not share its port with a gateway of another home', async () => {
    await using one = await newCalledWorld();
    await using other = await newCalledWorld();
    await using _first = await startOutside(one.world);
    await other.world.configure({ http: { port: one.port } });
    const world = { ...other.world, env: { ...other.world.env, XDG_STATE_HOME: join(one.world.home, 'state') } };
    await assert.rejects(startOutside(world), /Port \d+ on 127\.0\.0\.1 is in use/);
    await assert.rejects(startOutside(other.world, {}, ['--replace']), /is in use/, 'also where the two do not know of each other');
  });
});
