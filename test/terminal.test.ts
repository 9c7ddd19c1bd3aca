import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { status } from '../src/agent/models/chat-simulator.ts';
import { lockHome } from '../src/store/locks/home-lock.ts';
import { heldAnswer, inboxRows, peek, saidBy } from './support/scenes.ts';
import { hermes, openPiped } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const sessionsOf = (world: World) => peek(world, (store) => store.read((db) => db.q.selectFrom('sessions').select(['id', 'title', 'message_count', 'account']).orderBy('created_at').execute()));

describe('the terminal', { concurrency: true }, () => {
  describe('one question', { concurrency: 3 }, () => {
    test('prints only the answer and hosts the gateway itself, without touching any other platform', async () => {
      await using world = await newWorld();
      assert.deepEqual(await hermes(world, ['-q', 'hello']), { code: 0, out: 're: hello\n', err: '' });
      assert.equal(world.telegram.log.length, 0);
      const [session] = await sessionsOf(world);
      assert.deepEqual([session?.account, session?.message_count], ['local', 2]);
    });

    test('may come through a pipe, alone or behind the words that ask about it', async () => {
      await using world = await newWorld();
      assert.equal((await hermes(world, [], 'from the pipe')).out, 're: from the pipe\n');
      assert.equal((await hermes(world, ['-q', 'What is this?'], 'a diff')).out, 're: What is this?\n\na diff\n');
      assert.equal((await hermes(world, [])).code, 78);
    });

    test('answers for machines with --json', async () => {
      await using world = await newWorld();
      const { code, out } = await hermes(world, ['-q', 'hello', '--json']);
      const [session] = await sessionsOf(world);
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(out), { ok: true, answer: 're: hello', session: session?.id, reason: 'completed', model: 'sim-1', usage: { inputTokens: 100, outputTokens: 20 }, error: null });
    });

    test('that fails says why on standard error only, and leaves with 1', async () => {
      await using world = await newWorld();
      world.model.otherwise(status(401));
      const { code, out, err } = await hermes(world, ['-q', 'hello']);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /refused our key/);
      const result = JSON.parse((await hermes(world, ['-q', 'hello', '--json'])).out) as Record<string, unknown>;
      assert.deepEqual([result['ok'], result['reason']], [false, 'model_error']);
    });

    test('may be a command', async () => {
      await using world = await newWorld();
      const { code, out } = await hermes(world, ['-q', '/version']);
      assert.deepEqual([code, out.startsWith('Hermes gateway')], [0, true]);
      // What a command answers is kept nowhere if it is secret; it has to be printed all the same.
      assert.match((await hermes(world, ['-q', '/pair'])).out, /^Code: /);
    });

    test('says so when the gateway that runs speaks another version of the protocol', async () => {
      await using world = await newWorld();
      const lock = lockHome(world.home) ?? assert.fail('the home is taken');
      const server = createServer((socket) => socket.on('error', () => undefined).end('{"type":"goodbye","code":"version","reason":"the gateway speaks version 9 of the protocol"}\n')).listen(join(world.home, 'gateway.sock'));
      try {
        for (const args of [['-q', 'x'], ['--plain']]) {
          const { code, out, err } = await hermes(world, args, 'hello');
          assert.deepEqual([code, out], [78, '']);
          assert.match(err, /^The gateway does not take this terminal: the gateway speaks version 9 of the protocol\.\n$/);
        }
      } finally {
        server.close();
        lock.release();
      }
    });

    test('goes to the gateway that runs, continues the last conversation, and finds one by title or id', async () => {
      await using world = await newWorld();
      await using _gateway = await startOutside(world);
      await hermes(world, ['-q', 'first']);
      await hermes(world, ['-q', '/title Trip to Rome', '-c']);
      await hermes(world, ['-q', 'second']);
      await hermes(world, ['-c', '-q', 'after second']);
      await hermes(world, ['-r', 'Trip to Rome', '-q', 'after first']);
      const [rome, other] = await sessionsOf(world);
      assert.deepEqual([rome?.title, rome?.message_count, other?.message_count], ['Trip to Rome', 4, 4]);
      const named = JSON.parse((await hermes(world, ['-r', rome?.id.slice(0, -1) ?? '', '-q', 'by id', '--json'])).out) as { session: string };
      assert.equal(named.session, rome?.id);
      const missing = await hermes(world, ['-r', 'nothing like it', '-q', 'x']);
      assert.deepEqual([missing.code, missing.out], [78, '']);
      assert.match(missing.err, /There is no conversation called nothing like it/);
    });
  });

  describe('a conversation in plain lines', { concurrency: 3 }, () => {
    test('goes message by message, commands and shell commands among them', async () => {
      await using world = await newWorld();
      const { code, out } = await hermes(world, ['--plain'], 'one\n!echo from the shell\ntwo \\\nlines\n/title Plain talk\n/quit\nnever said');
      assert.equal(code, 0);
      assert.match(out, /› one\n\nre: one\n\n! echo from the shell\n\nfrom the shell\n› two \n {2}lines\n\nre: two \nlines\n\n› \/title Plain talk\n\n.*Plain talk/);
      assert.deepEqual(await peek(world, (store) => saidBy(store, 'user')), ['one', 'two \nlines']);
    });

    test('survives that the gateway is killed: what is written meanwhile is answered once', async () => {
      await using world = await newWorld();
      const first = await startOutside(world);
      await using terminal = openPiped(world, ['--plain']);
      terminal.type('before');
      await until(() => terminal.out().includes('re: before'), 'the first answer');
      await first.kill();
      terminal.type('while it is away');
      await until(() => terminal.out().includes('The gateway went away'), 'the terminal to notice');
      await using _second = await startOutside(world);
      await until(() => terminal.out().includes('re: while it is away'), 'the second answer');
      terminal.end();
      const { out, code } = await terminal.ended;
      assert.equal(code, 0);
      assert.equal(out.split('re: while it is away').length, 2);
      assert.match(out, /The gateway is back/);
      assert.deepEqual(await peek(world, (store) => saidBy(store, 'user')), ['before', 'while it is away']);
    });

    test('is taken over when the terminal that hosts the gateway leaves', async () => {
      await using world = await newWorld();
      await using host = openPiped(world, ['--plain']);
      host.type('to the host');
      await until(() => host.out().includes('re: to the host'), 'the host to answer');
      await using guest = openPiped(world, ['--plain']);
      guest.type('to the guest');
      await until(() => guest.out().includes('re: to the guest'), 'the guest to be answered');
      host.type('/quit');
      assert.equal((await host.ended).code, 0);
      guest.type('still there?');
      await until(() => guest.out().includes('re: still there?'), 'the guest to host');
      guest.end();
      assert.equal((await guest.ended).code, 0);
    });

    test('shows on the next occasion what was answered after leaving', async () => {
      await using world = await newWorld();
      await using _gateway = await startOutside(world);
      const held = heldAnswer();
      world.model.next(held.answer);
      {
        await using terminal = openPiped(world, ['--plain']);
        terminal.type('take your time');
        await until(() => held.held() === 1, 'the model to be asked');
      }
      held.open();
      await until(async () => (await peek(world, inboxRows)).every((row) => row.state === 'done'), 'the answer to be stored');
      const { out } = await hermes(world, ['-c', '--plain'], '/quit');
      assert.equal(out.split('re: take your time').length, 2);
      const again = await hermes(world, ['-c', '--plain'], '/quit');
      assert.match(again.out, /^↩ .* · 2 messages · \d+ (?:s|min) ago\n› take your time\n/);
    });
  });
});
