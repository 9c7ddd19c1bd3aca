import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { aMoment, eventually, never, within } from '../conformance-bench.ts';
import { isAway } from './client.ts';
import { listenAt } from './listen.ts';
import { attachPath, socketPlace } from './socket-place.ts';
import { openTerminal, outbound, serve, withFolder } from './local.test-support.ts';

const ready = (path: string): Promise<true> => eventually(() => existsSync(path) || undefined, 'the socket is there');

/** Speaks raw bytes; answers what came back until the gateway hung up. */
const raw = async (path: string, bytes: string): Promise<string> => {
  const socket = createConnection(path);
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  socket.write(bytes);
  await within(30_000, once(socket, 'close'), 'hanging up');
  return answer;
};

/** In how many chats something is not seen yet, as somebody learns who comes to another one. */
const unseenChats = async (path: string): Promise<number> => {
  using visitor = await openTerminal(path, 'chat-of-nobody');
  return (await visitor.find('welcome')).unseenChats;
};

describe('terminals', { concurrency: true }, () => {
  test('what was said while no terminal was there is told to the next one, once', () =>
    withFolder(async (folder) => {
      await using gateway = await serve(folder);
      await ready(gateway.path);
      await gateway.adapter.send(outbound('k1', 'first'), never);
      {
        using terminal = await openTerminal(gateway.path);
        assert.equal((await terminal.find('welcome')).unseen, 1);
        await terminal.find('ready');
        assert.deepEqual(terminal.texts(), ['first']);
        terminal.attachment.send({ type: 'seen' });
        while ((await unseenChats(gateway.path)) > 0);
      }
      await gateway.adapter.send(outbound('k2', 'second'), never);
      using later = await openTerminal(gateway.path);
      await later.find('ready');
      assert.deepEqual(later.texts(), ['second']);
      using again = await openTerminal(gateway.path, 'chat-one', 0);
      await again.find('ready');
      assert.deepEqual(again.texts(), ['first', 'second']);
    }));

  test('a newcomer elsewhere learns that an answer waits to be seen', () =>
    withFolder(async (folder) => {
      await using gateway = await serve(folder);
      await ready(gateway.path);
      await gateway.adapter.send(outbound('k1', 'answer'), never);
      using elsewhere = await openTerminal(gateway.path, 'chat-two');
      assert.deepEqual(await elsewhere.find('welcome'), { type: 'welcome', version: 1, unseen: 0, unseenChats: 1 });
      await elsewhere.find('ready');
      assert.deepEqual(elsewhere.texts(), []);
    }));

  test('all terminals of a chat see the same, and those of others nothing of it', () =>
    withFolder(async (folder) => {
      await using gateway = await serve(folder);
      await ready(gateway.path);
      using one = await openTerminal(gateway.path);
      using two = await openTerminal(gateway.path);
      using other = await openTerminal(gateway.path, 'chat-two');
      for (const terminal of [one, two, other]) await terminal.find('ready');
      one.attachment.send({ type: 'say', id: 'message-1', text: 'hello' });
      await one.find('accepted');
      const { messageIds } = await gateway.adapter.send(outbound('k', 'gro ▉', { growing: true }), never);
      await gateway.adapter.edits?.edit(messageIds[0] ?? '', outbound('k', 'growing ▉'), false, never);
      await gateway.adapter.activity?.show(outbound('', '').target, { type: 'tool_started', callId: 'c1', name: 'clock', preview: 'now' }, never);
      for (const terminal of [one, two]) {
        assert.deepEqual((await terminal.find('activity')).activity, { type: 'tool_started', callId: 'c1', name: 'clock', preview: 'now' });
        assert.equal((await terminal.find('live')).text, 'growing ▉');
        await eventually(() => terminal.texts().length === 2, 'both texts came');
        assert.deepEqual(terminal.texts(), ['hello', 'gro ▉']);
      }
      using late = await openTerminal(gateway.path);
      await late.find('ready');
      assert.equal((await late.find('live')).at, 0);
      assert.equal((await late.find('activity')).activity.type, 'tool_started');
      using lateOther = await openTerminal(gateway.path, 'chat-two');
      await lateOther.find('ready');
      await aMoment();
      for (const terminal of [other, lateOther]) assert.deepEqual(terminal.frames.map(({ type }) => type), ['welcome', 'ready']);
    }));

  test('a message that was said twice under one id is one message', () =>
    withFolder(async (folder) => {
      await using gateway = await serve(folder);
      await ready(gateway.path);
      using terminal = await openTerminal(gateway.path);
      for (let times = 0; times < 2; times += 1) terminal.attachment.send({ type: 'say', id: 'message-1', text: 'once' });
      const outcomes = await eventually(() => {
        const accepted = terminal.frames.filter((frame) => frame.type === 'accepted');
        return accepted.length === 2 && accepted.map(({ outcome }) => outcome);
      }, 'both were answered');
      assert.deepEqual(outcomes, ['stored', 'duplicate']);
      assert.deepEqual(terminal.texts(), ['once']);
    }));

  test('another version of the protocol is told so, garbage is sent away, and nobody else is disturbed', () =>
    withFolder(async (folder) => {
      await using gateway = await serve(folder);
      await ready(gateway.path);
      using terminal = await openTerminal(gateway.path);
      assert.match(await raw(gateway.path, '{"type":"hello","version":99,"chat":"c"}\n'), /"goodbye","code":"version","reason":"the gateway speaks version 1/);
      assert.match(await raw(gateway.path, 'GET / HTTP/1.1\r\n\r\n'), /"code":"protocol"/);
      assert.match(await raw(gateway.path, '{"type":"say","id":"12345678","text":"x"}\n'), /hello/);
      assert.match(await raw(gateway.path, 'x'.repeat(1024 * 1024 + 1)), /"code":"protocol"/);
      terminal.attachment.send({ type: 'say', id: 'message-1', text: 'still here' });
      assert.equal((await terminal.find('accepted')).outcome, 'stored');
      assert.equal(gateway.inbox.offered.length, 1);
    }));

  test('a terminal that takes nothing is cut off when too much waits for it', () =>
    withFolder(async (folder) => {
      await using gateway = await serve(folder);
      await ready(gateway.path);
      const socket = createConnection(gateway.path);
      socket.write('{"type":"hello","version":1,"chat":"chat-one"}\n');
      await once(socket, 'readable');
      socket.pause();
      const { messageIds } = await gateway.adapter.send(outbound('k', 'x', { growing: true }), never);
      for (let i = 0; i < 400 && !socket.closed; i += 1) {
        await gateway.adapter.edits?.edit(messageIds[0] ?? '', outbound('k', `${i}${'x'.repeat(30_000)}`), false, never);
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.resume();
      await within(30_000, once(socket, 'close'), 'being cut off');
    }));

  test('the socket is for its owner alone, and goes away with the gateway', () =>
    withFolder(async (folder) => {
      const gateway = await serve(folder);
      await ready(gateway.path);
      assert.equal((await stat(gateway.path)).mode & 0o777, 0o600);
      using terminal = await openTerminal(gateway.path);
      await terminal.find('ready');
      await within(20_000, gateway.stop(), 'stopping');
      assert.equal((await terminal.attachment.ended)?.code, 'stopping');
      assert.ok(!existsSync(gateway.path));
      await assert.rejects(openTerminal(gateway.path), isAway);
      await gateway[Symbol.asyncDispose]();
    }));

  test('neither a file nor the socket of a living process is replaced', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'gateway.sock');
      await writeFile(path, 'mine');
      await assert.rejects(listenAt({ path }, () => undefined), (error) => error instanceof PlatformError && error.code === 'unavailable');
      await rm(path);
      await using living = await listenAt({ path }, (socket) => socket.end());
      await assert.rejects(listenAt({ path }, () => undefined), (error) => error instanceof PlatformError && error.code === 'conflict');
      assert.equal(await living.isThere(), true);
    }));

  test('a socket that was removed or replaced is missed', () =>
    withFolder(async (folder) => {
      const path = join(folder, 's');
      await using listening = await listenAt({ path }, () => undefined);
      await rm(path);
      assert.equal(await listening.isThere(), false);
      await writeFile(path, '');
      assert.equal(await listening.isThere(), false);
    }));

  test('a home with a long path is served from a short one, in a folder that is ours alone', () =>
    withFolder(async (folder) => {
      const home = join(folder, 'x'.repeat(120));
      await mkdir(home);
      const query = { home, account: 'local', platform: process.platform, temporary: folder, userId: process.getuid?.() ?? 0 };
      const place = socketPlace(query);
      {
        await using listening = await listenAt(place, (socket) => socket.end());
        assert.equal(attachPath({ ...query, temporary: '/nowhere' }), listening.path);
        assert.equal((await stat(place.folder ?? '')).mode & 0o777, 0o700);
      }
      assert.ok(!existsSync(place.pointer ?? '') && !existsSync(place.folder ?? ''));
      await mkdir(place.folder ?? '', { mode: 0o755 });
      await assert.rejects(listenAt(place, () => undefined), (error) => error instanceof PlatformError && error.code === 'unavailable');
    }));
});
