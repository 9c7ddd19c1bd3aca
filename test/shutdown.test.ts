import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { callsTo, heldAnswer, inboxRows, outboxRows, peek, streamedAnswer, transcript, turnRows } from './support/scenes.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';

describe('the end of the process', { concurrency: true }, () => {
  test('waits for a streaming turn no longer than it may, and the turn continues after the next start without having failed', async () => {
    await using world = await newWorld({ agent: { restart_drain_timeout: 1 }, display: { streaming: true } });
    const stream = streamedAnswer();
    world.model.next(stream.answer);
    {
      await using first = await startOutside(world);
      await world.say('tell me');
      await until(stream.begun, 'the model to be asked');
      stream.write('Once upon a');
      await until(() => world.shown().length === 1, 'the preview');
      const askedMs = Date.now();
      assert.equal(await first.stop(), 0);
      const tookMs = Date.now() - askedMs;
      assert.ok(tookMs >= 900 && tookMs < 60_000, `${tookMs} ms`);
      assert.ok(first.output().includes('"gateway.stopped"'));
      assert.deepEqual(world.shown().slice(1), ['⏸️ I have to stop for a moment. I go on with this when I am back.']);
    }
    assert.deepEqual(await peek(world, async (store) => (await turnRows(store)).map((turn) => [turn.state, turn.attempts])), [['running', 0]]);
    world.model.next(says('The whole story'));
    await using _second = await startOutside(world);
    await until(() => world.shown()[0] === 'The whole story', 'the answer');
    assert.equal(world.shown().length, 2, 'nothing is said twice');
    await until(() => peek(world, async (store) => (await turnRows(store))[0]?.state === 'done'), 'the turn to end');
    assert.deepEqual(await peek(world, async (store) => (await turnRows(store)).map((turn) => turn.attempts)), [1]);
    assert.deepEqual(await peek(world, async (store) => (await transcript(store)).map((row) => row.content)), ['tell me', 'The whole story']);
  });

  test('is written down with what was running and who asked for it', async () => {
    await using world = await newWorld({ agent: { restart_drain_timeout: 0 }, approvals: { destructive_slash_confirm: false } });
    const begun = join(world.home, 'workspace', 'begun');
    world.model.next(calls({ id: 'c1', name: 'terminal', arguments: JSON.stringify({ command: 'touch begun; sleep 60' }) }));
    await using gateway = await startOutside(world);
    await world.say('work for long');
    await until(() => existsSync(begun), 'the tool to run');
    const [session] = await peek(world, (store) => store.read((db) => db.q.selectFrom('turns').select('session_id').execute()));
    await world.say('/restart');
    await until(() => gateway.output().includes('"gateway.stopping"'), 'the end');
    const line = gateway.output().split('\n').find((each) => each.includes('"gateway.stopping"')) ?? '';
    const { why, asked_by: askedBy, running } = JSON.parse(line) as { readonly why: string; readonly asked_by: string; readonly running: readonly { readonly since: string }[] };
    assert.deepEqual([why, askedBy], ['restart', '/restart by 7 in telegram:7']);
    const [{ since, ...turn } = { since: '' }] = running;
    assert.deepEqual([running.length, turn], [1, { session: session?.session_id, turn: 1, account: 'telegram', chat: '7', tools: ['terminal'] }]);
    assert.ok(Math.abs(Date.now() - Date.parse(since)) < 60_000, since);
  });

  test('lets a turn end that can: its answer is delivered, and what waited begins after the next start', async () => {
    await using world = await newWorld({ display: { busy_input_mode: 'queue', streaming: false, busy_ack_enabled: false } });
    const slow = heldAnswer();
    world.model.next(slow.answer);
    {
      await using inside = await startInside(world);
      await world.say('one');
      await world.say('two');
      await until(async () => slow.held() === 1 && (await inboxRows(inside.store)).length === 2, 'one to run and one to wait');
      const stopped = inside.stop();
      slow.open();
      await stopped;
    }
    assert.deepEqual(world.shown(), ['re: one']);
    assert.equal(world.model.requests.length, 1);
    await using _second = await startInside(world);
    await until(() => world.shown().length === 2, 'the second answer');
    assert.deepEqual(world.shown(), ['re: one', 're: two']);
  });

  test('does not turn a message that is being sent into a failed attempt or a repeat', async () => {
    await using world = await newWorld({ display: { streaming: false } });
    {
      await using inside = await startInside(world);
      world.telegram.fail({ what: 'send', fault: { type: 'delay', ms: 500 } });
      await world.say('hello');
      await until(() => callsTo(world.telegram, '7', ['sendMessage']).length === 1, 'the send to be under way');
      await inside.stop();
    }
    await peek(world, async (store) => assert.deepEqual((await outboxRows(store)).map((row) => [row.state, row.attempts, row.repeated]), [['sent', 1, 0]]));
    assert.deepEqual(world.shown(), ['re: hello']);
  });
});
