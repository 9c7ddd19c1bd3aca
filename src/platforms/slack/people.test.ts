import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { eventually, eventWith, failure, never } from '../conformance-bench.ts';
import { startSlackSimulator } from './simulator.ts';
import type { SlackSimulator } from './simulator.ts';
import { message } from '../../../test/support/test-account.ts';
import { channel, dm, openAccount, runAccount, target } from './slack.test-support.ts';

let simulator: SlackSimulator;

beforeEach(async () => {
  simulator = await startSlackSimulator();
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

describe('a thread that goes on without the agent', () => {
  it('is told from its beginning when the agent is called into it, and only then', async () => {
    await using run = await runAccount((await openAccount(simulator)).adapter);
    const threadId = await simulator.say({ ...channel, text: 'the build is <red>' });
    await simulator.say({ ...channel, senderId: 'U0PERSON02', senderName: 'Bob', text: 'since when?', threadId });
    await simulator.say({ ...channel, text: 'why is that?', threadId, mention: true });
    const { earlier } = await eventWith(run.inbox, 'why is that?');
    assert.deepEqual(earlier, [
      { author: 'Ada', text: 'the build is <red>', sender: { id: 'U0PERSON01', isBot: false } },
      { author: 'Bob', text: 'since when?', sender: { id: 'U0PERSON02', isBot: false } },
    ]);
    await simulator.say({ ...channel, text: 'and now?', threadId });
    const later = await eventWith(run.inbox, 'and now?');
    assert.deepEqual([later.addressed, later.earlier], [true, undefined]);
  });

  it('is answered also when it cannot be read', async () => {
    simulator.refuseMethod('conversations.replies', { error: 'missing_scope', more: { needed: 'channels:history' } });
    await using run = await runAccount((await openAccount(simulator)).adapter);
    const threadId = await simulator.say({ ...channel, text: 'before' });
    await simulator.say({ ...channel, text: 'hello', threadId, mention: true });
    assert.equal((await eventWith(run.inbox, 'hello')).earlier, undefined);
  });
});

describe('people', () => {
  it('are known by their names, which are asked for once', async () => {
    const { adapter } = await openAccount(simulator);
    await using run = await runAccount(adapter);
    for (const text of ['a', 'b']) await simulator.say({ ...channel, text, mention: true });
    const { sender, chat } = await eventWith(run.inbox, 'b');
    assert.deepEqual([sender.name, chat.name], ['Ada', 'channel-c0general1']);
    await simulator.say({ ...channel, senderId: 'U0PERSON02', text: 'among us' });
    await eventWith(run.inbox, 'among us');
    assert.deepEqual(['users.info', 'conversations.info'].map((method) => simulator.log.filter((call) => call.method === method).length), [1, 1]);
  });

  it('are heard also when nobody tells their names', async () => {
    simulator.refuseMethod('users.info', { error: 'missing_scope', more: { needed: 'users:read' } });
    await using run = await runAccount((await openAccount(simulator)).adapter);
    await simulator.say({ ...dm, text: 'hello' });
    const { sender } = await eventWith(run.inbox, 'hello');
    assert.deepEqual(sender, { id: 'U0PERSON01', isBot: false });
  });

  it('edit their messages, and take them back', async () => {
    await using run = await runAccount((await openAccount(simulator)).adapter);
    const messageId = await simulator.say({ ...dm, text: 'helo' });
    simulator.edit({ chatId: dm.chatId, messageId }, 'hello');
    simulator.edit({ chatId: dm.chatId, messageId });
    simulator.takeBack({ chatId: dm.chatId, messageId });
    simulator.react({ chatId: dm.chatId, messageId, senderId: 'U0PERSON01', name: 'tada', added: true });
    await eventually(() => run.inbox.events.length === 3, 'they arrived');
    assert.deepEqual(run.inbox.events.map(({ kind, text, reaction }) => [kind, text || reaction?.emoji]), [['message', 'helo'], ['edit', 'hello'], ['reaction', '🎉']]);
  });

  it('send recordings as a voice', async () => {
    await using run = await runAccount((await openAccount(simulator)).adapter);
    await simulator.say({ ...dm, text: '', media: { kind: 'voice', bytes: Buffer.from('sound'), name: 'audio_message.m4a', mime: 'audio/mp4', durationMs: 2500 } });
    const { media } = await eventually(() => run.inbox.events[0], 'it arrived');
    assert.deepEqual([media[0]?.kind, media[0]?.durationMs], ['voice', 2500]);
  });

  it('send files that the app may not read, and the owner is told which right is missing', async () => {
    const { adapter } = await openAccount(simulator);
    await using run = await runAccount(adapter);
    await simulator.say({ ...dm, text: 'look', media: { kind: 'photo', bytes: Buffer.from('x'), name: 'a.png', mime: 'image/png' } });
    const [ref = assert.fail('no file')] = (await eventWith(run.inbox, 'look')).media;
    simulator.withhold('files:read');
    const { message: words } = await failure(adapter.media?.open(ref, never) ?? Promise.resolve(), 'rejected');
    assert.match(words, /files:read/);
  });

  it('are answered while the connection is being renewed', async () => {
    const { adapter } = await openAccount(simulator);
    await using run = await runAccount(adapter);
    await simulator.say({ ...dm, text: 'hello' });
    await eventWith(run.inbox, 'hello');
    simulator.sockets.cut();
    assert.ok((await run.ended) instanceof PlatformError);
    await adapter.send(message(target(dm), 'answer'), never);
    assert.deepEqual(simulator.visible(dm.chatId).map(({ text }) => text), ['answer']);
  });
});
