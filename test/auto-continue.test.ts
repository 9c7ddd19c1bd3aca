import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { movingClock } from './support/moving-clock.ts';
import { heldAnswer, inboxRows, peek, transcript, turnRows } from './support/scenes.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const hourMs = 3_600_000;
const quietly = { display: { streaming: false, busy_ack_enabled: false, busy_input_mode: 'queue' } };
const runs = (id: string, command: string) => calls({ id, name: 'terminal', arguments: JSON.stringify({ command }) });

/** As if the process had been killed so much earlier. */
const age = (world: World, ms: number): Promise<void> =>
  peek(world, (store) => store.write(async (tx) => void (await tx.q.updateTable('lanes').set((eb) => ({ lease_until: eb('lease_until', '-', ms) })).where('owner', 'is not', null).execute())));

const states = (world: World): Promise<readonly string[]> => peek(world, async (store) => (await inboxRows(store)).map((row) => row.state));

describe('a turn that was cut off', { concurrency: true }, () => {
  test('by a kill too long ago is not gone on with: its chat is told once, what waited is answered, and the next words go on from there', async () => {
    await using world = await newWorld({ ...quietly, approvals: { mode: 'off' } });
    world.model.next(runs('c1', 'echo begun; sleep 60'));
    {
      await using first = await startOutside(world);
      await world.say('tidy the cellar');
      await until(() => peek(world, async (store) => (await transcript(store)).length === 2), 'the command to run');
      await world.say('and how are you?');
      await until(async () => (await states(world)).length === 2, 'the second message to wait');
      await first.kill();
    }
    await age(world, 3 * hourMs);
    {
      await using _second = await startOutside(world);
      await until(() => world.shown().length >= 2, 'the notice and the answer');
      assert.equal(world.shown()[0], '⏳ I was cut off 3 h ago while I worked on “tidy the cellar”, and have not gone on with it by myself. “Go on”, or whatever you write next, continues from there.');
      assert.equal(world.shown()[1], 're: and how are you?');
      assert.deepEqual(await states(world), ['cut_off', 'done']);
      const seen = world.model.requests.at(-1)?.body.messages ?? [];
      assert.match(JSON.stringify(seen.find((message) => message['tool_call_id'] === 'c1')), /Interrupted by a restart of the gateway/);
      assert.match((await hermes(world, ['trace', 'in_1'])).out, /turn ended .*cut_off.*\n.* cut_off +cut off 3 h earlier; turns go on by themselves within 60 min \(agent\.gateway_auto_continue_freshness\)/);
      assert.match((await hermes(world, ['status'])).out, /Cut off and not gone on with\nin_1 +telegram:7 +cut off 3 h earlier/);
    }
    await using _third = await startOutside(world);
    await world.say('go on');
    await until(() => world.shown().includes('re: go on'), 'the next answer');
    assert.equal(world.shown().length, 3, 'nothing is said twice');
  });

  test('in order goes on within the window, and not after it', async () => {
    await using world = await newWorld({ ...quietly, agent: { restart_drain_timeout: 0, gateway_auto_continue_freshness: 7200 } });
    const clock = movingClock(1);
    const slow = heldAnswer(says('never seen'));
    world.model.otherwise(slow.answer);
    for (const [waitedMs, requests] of [[0, 1], [hourMs, 2]] as const) {
      clock.jump(waitedMs);
      await using inside = await startInside(world, { storeClock: clock });
      if (requests === 1) await world.say('think hard');
      await until(() => world.model.requests.length === requests && slow.held() === 1, `the model to be asked for the ${requests}. time`);
      await inside.stop();
    }
    clock.jump(3 * hourMs);
    await using inside = await startInside(world, { storeClock: clock });
    await until(() => world.shown().length === 1, 'the notice');
    assert.match(world.shown()[0] ?? '', /^⏳ I was cut off 3 h ago while I worked on “think hard”/);
    assert.deepEqual((await turnRows(inside.store)).map((turn) => [turn.state, turn.exit_reason]), [['done', 'cut_off']]);
    assert.equal(world.model.requests.length, 2);
  });
});
