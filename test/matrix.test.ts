import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { program } from '../src/cli/program.ts';
import { accountData } from '../src/store/accounts/account-data.ts';
import { failedDeliveries } from '../src/store/messages/outbox.ts';
import { listSessions } from '../src/store/sessions/sessions.ts';
import { startMatrixSimulator } from '../src/platforms/matrix/simulator.ts';
import type { MatrixSimulator } from '../src/platforms/matrix/simulator.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const alice = '@alice:sim.test';
const room = '!direct:sim.test';

const worldWith = (simulator: MatrixSimulator, more: Readonly<Record<string, unknown>> = {}): Promise<World> => newWorld({ platforms: { matrix: { ...simulator.options, allowed_users: [alice], streaming: false, ...more } } });

const say = (simulator: MatrixSimulator, text: string): Promise<string> => simulator.say({ chatId: room, chatType: 'dm', senderId: alice, text });

const shown = (simulator: MatrixSimulator): readonly string[] => simulator.visible(room).map(({ text }) => text);

describe('a gateway on Matrix', { concurrency: true }, () => {
  test('goes on with an encrypted conversation after it was killed, and answers what was said meanwhile, once', async () => {
    await using simulator = await startMatrixSimulator({ encrypted: true });
    await using world = await worldWith(simulator);
    {
      await using gateway = await startOutside(world);
      await say(simulator, 'one');
      await until(() => shown(simulator).length === 1, 'the first answer');
      await gateway.kill();
    }
    await say(simulator, 'two');
    await using again = await startOutside(world);
    await until(() => shown(simulator).length === 2, 'the second answer');
    await say(simulator, 'three');
    await until(() => shown(simulator).length === 3, 'the third answer');
    assert.deepEqual(shown(simulator), ['re: one', 're: two', 're: three']);
    const clear = simulator.world.rooms.get(room)?.timeline.filter(({ event }) => event.sender === simulator.bot.id && event.type === 'm.room.message');
    assert.deepEqual(clear, []);
    assert.equal(await again.stop(), 0);
  });

  test('repeats a message whose answer was lost, and people see it once and without a mark', async () => {
    await using simulator = await startMatrixSimulator();
    await using world = await worldWith(simulator);
    await using _inside = await startInside(world);
    simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await say(simulator, 'hello');
    await until(() => simulator.log.filter(({ path }) => path.includes('/send/m.room.message/')).length === 2, 'the message is sent again');
    await until(() => shown(simulator).length > 0, 'the answer is seen');
    assert.deepEqual(shown(simulator), ['re: hello']);
  });

  test('follows the invitations of those who may speak, and of nobody else', async () => {
    await using simulator = await startMatrixSimulator();
    await using world = await worldWith(simulator);
    await using inside = await startInside(world);
    const strange = simulator.invite({ inviter: '@mallory:sim.test', isDirect: true });
    const known = simulator.invite({ inviter: alice, isDirect: true });
    simulator.put(known.id, alice, 'm.room.message', { msgtype: 'm.text', body: 'hi' });
    await until(() => simulator.visible(known.id).length === 1, 'an answer in the room');
    assert.deepEqual(simulator.visible(known.id).map(({ text }) => text), ['re: hi']);
    assert.equal(strange.state.get(`m.room.member ${simulator.bot.id}`)?.event.content['membership'], 'invite');
    assert.ok(inside.logLines.some((line) => line.includes('matrix.invite.left_alone')));
  });

  test('goes on with the same conversation in the room that has taken the place of another, with the answer that was under way', async () => {
    await using simulator = await startMatrixSimulator();
    await using world = await worldWith(simulator);
    await using inside = await startInside(world);
    await say(simulator, 'one');
    await until(() => shown(simulator).length === 1, 'the first answer');
    simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 1000 } });
    await say(simulator, 'two');
    await until(() => simulator.log.filter(({ path }) => path.includes('/send/m.room.message/')).length === 2, 'the second answer is held up');
    const { room: next, close } = simulator.upgrade(room, { by: alice, invites: [simulator.bot.id] });
    close();
    const there = (): readonly string[] => simulator.visible(next.id).map(({ text }) => text);
    await until(() => there().length === 1, 'the second answer, in the new room');
    simulator.put(next.id, alice, 'm.room.message', { msgtype: 'm.text', body: 'three' });
    await until(() => there().length === 2, 'the third answer');
    assert.deepEqual([shown(simulator), there()], [['re: one'], ['re: two', 're: three']]);
    assert.equal((await inside.store.read((db) => listSessions(db, { limit: 5 }))).length, 1, 'one conversation');
    assert.equal(await inside.store.read(async (db) => (await failedDeliveries(db, 5)).length), 0);
  });

  test('says in the new room that conversations in threads have stayed behind, once', async () => {
    await using simulator = await startMatrixSimulator();
    await using world = await worldWith(simulator);
    await using _inside = await startInside(world);
    await simulator.say({ chatId: '!group:sim.test', chatType: 'group', senderId: alice, text: 'a question', mention: true });
    await until(() => simulator.visible('!group:sim.test').length === 1, 'an answer in a thread');
    const { room: next, close } = simulator.upgrade('!group:sim.test', { by: alice, joins: ['@carol:sim.test'], invites: [simulator.bot.id] });
    close();
    await until(() => simulator.visible(next.id).length === 1, 'a notice');
    assert.match(simulator.visible(next.id)[0]?.text ?? '', /One conversation could not come along.*\/resume/);
  });

  test('takes commands with the mark that clients leave alone', async () => {
    await using simulator = await startMatrixSimulator();
    await using world = await worldWith(simulator);
    await using _inside = await startInside(world);
    await say(simulator, '!status');
    await until(() => shown(simulator).length === 1, 'an answer');
    assert.doesNotMatch(shown(simulator)[0] ?? '', /^re: /);
  });

  test('shows at the terminal which devices wait to be compared, and takes the answer', async () => {
    await using simulator = await startMatrixSimulator();
    await using world = await worldWith(simulator);
    await using inside = await startInside(world);
    const hermes = async (...args: readonly string[]): Promise<string> => {
      let out = '';
      const write = (text: string): void => void (out += text);
      await program({ env: world.env, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
      return out;
    };
    assert.match(await hermes('verify', '--list'), /No device/);
    const data = accountData(inside.store, 'matrix');
    const check = { id: 'flow', userId: alice, state: 'compare', emoji: [{ symbol: '🐶', name: 'Dog' }] };
    await data.set('check:flow', JSON.stringify({ atMs: Date.now(), check }));
    assert.match(await hermes('verify', 'matrix', '--list'), /flow +@alice:sim\.test +compare +🐶 Dog/);
    await assert.rejects(hermes('verify', '--same', 'other'), /No device waits/);
    await hermes('verify', '--same', 'flow');
    await until(async () => (await data.list('check-wish:')).length === 0, 'the gateway takes the answer');
  });
});
