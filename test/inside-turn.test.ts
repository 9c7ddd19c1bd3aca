import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { endProcess } from './support/end-process.ts';
import { heldAnswer, inboxRows, peek, saidBy, turnRows } from './support/scenes.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { Outside, World } from './support/whole.ts';

const launcher = fileURLToPath(new URL('../bin/hermes.js', import.meta.url));
const own = (...words: readonly string[]): string => [process.execPath, launcher, ...words].join(' ');
const runs = (id: string, command: string) => calls({ id, name: 'terminal', arguments: JSON.stringify({ command }) });

const plainly = { display: { streaming: false, busy_ack_enabled: false, busy_input_mode: 'queue', tool_progress: 'off' } };
const unasked = { ...plainly, approvals: { mode: 'off' } };

/** Nothing of it is left in the folders of whoever runs the tests. */
const newHome = async (changes: Readonly<Record<string, unknown>>): Promise<World> => {
  const world = await newWorld(changes);
  return { ...world, env: { ...world.env, XDG_STATE_HOME: join(world.home, 'state') } };
};

const resultOf = (world: World, id: string): string => (world.model.requests.at(-1)?.body.messages ?? []).findLast((message) => message['tool_call_id'] === id)?.['content'] as string;

const times = (gateway: Outside, event: string): number => gateway.output().split(`"${event}"`).length - 1;

const pressOnce = async (world: World): Promise<void> => {
  await until(() => world.telegram.visible('7').some((message) => message.choices.length > 0), 'a question');
  const asked = world.telegram.visible('7').findLast((message) => message.choices.length > 0) ?? assert.fail();
  const choice = asked.choices.find(({ label }) => /once/i.test(label)) ?? assert.fail('no button');
  await world.telegram.press('7', asked.id, choice.data, '7');
};

describe('inside a turn', { concurrency: 2 }, () => {
  test('hermes gateway restart asks first, returns at once, waits for the end of the turn, and reports once', async () => {
    await using world = await newHome(plainly);
    const slow = heldAnswer(says('It will be back.'));
    world.model.next(runs('c1', own('gateway', 'restart')), slow.answer);
    await using gateway = await startOutside(world);
    await world.say('start anew, please');
    await pressOnce(world);
    await until(() => slow.held() === 1, 'the command to have returned');
    const result = JSON.parse(resultOf(world, 'c1')) as { readonly exit_code: number; readonly output: string };
    assert.deepEqual([result.exit_code, result.output.trim()], [0, `The gateway of ${world.home} starts anew when this turn has ended. Nothing has to be repeated.`]);
    await until(() => times(gateway, 'gateway.end_wished') === 1, 'the gateway to know of it');
    await world.say('meanwhile', { chatId: '-5', chatType: 'group', mention: true });
    await until(() => world.shown('-5').length === 1, 'an answer in another chat');
    assert.equal(times(gateway, 'gateway.stopping'), 0, 'it has not begun to end');
    slow.open();
    await until(() => world.shown().some((text) => text.startsWith('✅ I am back')), 'the report');
    assert.equal(world.shown().filter((text) => text === 'It will be back.').length, 1);
    await until(() => times(gateway, 'gateway.started') === 2, 'the gateway to have started');
    assert.equal(times(gateway, 'gateway.stopping'), 1);
    await world.say('and now?');
    await until(() => world.shown().includes('re: and now?'), 'the next answer');
    assert.equal(world.shown().filter((text) => text.startsWith('✅ I am back')).length, 1);
    assert.deepEqual(await peek(world, async (store) => (await turnRows(store)).map((turn) => [turn.state, turn.attempts, turn.exit_reason])), [['done', 1, 'completed'], ['done', 1, 'completed'], ['done', 1, 'completed']]);
    assert.match((await hermes(world, ['trace', 'in_1'])).out, /restart: asked for from inside the turn/);
    assert.equal(await gateway.stop(), 0);
    assert.deepEqual([times(gateway, 'gateway.started'), times(gateway, 'gateway.stopping')], [2, 2]);
  });

  test('a restart is not made again by the same turn when a kill has taken its place', async () => {
    await using world = await newHome(unasked);
    const slow = heldAnswer(says('never seen'));
    world.model.next(runs('c1', own('gateway', 'restart')), slow.answer);
    {
      await using first = await startOutside(world);
      await world.say('start anew, please');
      await until(() => slow.held() === 1 && times(first, 'gateway.end_wished') === 1, 'the gateway to know of it');
      await first.kill();
    }
    world.model.next(runs('c2', own('gateway', 'restart')), says('I have started anew.'));
    await using second = await startOutside(world);
    await until(() => world.shown().includes('I have started anew.'), 'the answer');
    assert.match(resultOf(world, 'c2'), /has started anew in this turn already/);
    await world.say('still there?');
    await until(() => world.shown().includes('re: still there?'), 'the next answer');
    assert.deepEqual([times(second, 'gateway.started'), times(second, 'gateway.end_wished')], [1, 0]);
    assert.equal(world.shown().filter((text) => text.startsWith('✅ I am back')).length, 1);
  });

  test('the command of a helper waits for the turn of whoever has the helper', async () => {
    await using base = await newHome(plainly);
    const slow = heldAnswer();
    base.model.next(slow.answer);
    await using gateway = await startOutside(base);
    await base.say('let somebody do it');
    await until(() => slow.held() === 1, 'the turn to run');
    const [key] = await peek(base, (store) => store.read((db) => db.q.selectFrom('bindings').select('session_key').execute()));
    const env = { ...base.env, _HERMES_GATEWAY: String(gateway.child.pid), HERMES_SESSION_ID: 'deleg_1', HERMES_SESSION_KEY: key?.session_key ?? '' };
    assert.match((await hermes({ ...base, env }, ['gateway', 'stop'])).out, /ends when this turn has ended/);
    await until(() => times(gateway, 'gateway.end_wished') === 1, 'the gateway to know of it');
    slow.open();
    await until(() => gateway.child.exitCode !== null, 'the gateway to end');
    assert.deepEqual(base.shown(), ['re: let somebody do it']);
  });

  test('hermes gateway stop ends the gateway after the turn', async () => {
    await using world = await newHome(unasked);
    world.model.next(runs('c1', own('gateway', 'stop')), says('Good night.'));
    await using gateway = await startOutside(world);
    await world.say('that is all for today');
    await until(() => gateway.child.exitCode !== null, 'the gateway to end');
    assert.equal(gateway.child.exitCode, 0);
    assert.match(resultOf(world, 'c1'), /ends when this turn has ended/);
    assert.deepEqual(world.shown(), ['Good night.']);
    assert.deepEqual(await peek(world, async (store) => (await turnRows(store)).map((turn) => [turn.state, turn.attempts])), [['done', 1]]);
  });

  test('a plain SIGTERM of a command loses nothing: the turn goes on after the next start', async () => {
    await using world = await newHome({ ...unasked, agent: { restart_drain_timeout: 0 } });
    await mkdir(join(world.home, 'workspace'), { recursive: true });
    {
      await using first = await startOutside(world);
      await writeFile(join(world.home, 'workspace', 'end-it.sh'), `echo once >> ran.txt\nkill -TERM ${first.child.pid}\nsleep 30\n`);
      world.model.next(runs('c1', 'sh ./end-it.sh'), says('I was cut off.'));
      await world.say('do it');
      await world.say('and this');
      await until(() => first.child.exitCode !== null, 'the gateway to end');
      assert.equal(first.child.exitCode, 0);
    }
    await using _second = await startOutside(world);
    await until(() => world.shown().includes('re: and this'), 'both answers');
    assert.deepEqual(world.shown().filter((text) => !text.startsWith('⏸️')), ['I was cut off.', 're: and this']);
    await until(() => peek(world, async (store) => (await inboxRows(store)).every((row) => row.state === 'done')), 'both messages to be done');
    assert.match((await peek(world, (store) => saidBy(store, 'tool')))[0] ?? '', /^Interrupted by a restart/);
    assert.equal(await readFile(join(world.home, 'workspace', 'ran.txt'), 'utf8'), 'once\n');
  });

  test('what would end the gateway around it is refused with a sentence, and a gateway in another home is a normal one', async () => {
    await using base = await newHome(plainly);
    await using gateway = await startOutside(base);
    const world: World = { ...base, env: { ...base.env, _HERMES_GATEWAY: String(gateway.child.pid) } };
    for (const args of [['gateway', 'run', '--replace'], ['restore', 'backup.tar.gz', '--yes']]) {
      const refused = await hermes(world, args);
      assert.equal(refused.code, 78, refused.err);
      assert.match(refused.err, /cannot be run by the gateway of .* itself/);
    }
    const other: World = { ...world, home: join(world.home, 'other'), env: { ...world.env, HERMES_HOME: join(world.home, 'other') } };
    await mkdir(other.home, { mode: 0o700 });
    await writeFile(join(other.home, 'config.yaml'), JSON.stringify({ http: { port: 0 }, model: { provider: 'demo' } }), { mode: 0o600 });
    const started = await hermes(other, ['gateway', 'start']);
    assert.equal(started.code, 0, started.err);
    const pid = Number(await readFile(join(other.home, 'gateway.pid'), 'utf8'));
    after(() => endProcess(pid));
    assert.match((await hermes(other, ['gateway', 'restart'])).out, /has started anew as process/);
    assert.match((await hermes(other, ['gateway', 'stop'])).out, /has ended/);
    assert.equal(times(gateway, 'gateway.end_wished'), 0);
    assert.match((await hermes(world, ['gateway', 'restart'])).out, /starts anew in a moment/);
    await until(() => times(gateway, 'gateway.started') === 2, 'the gateway to start anew for a program that no turn waits for');
  });
});
