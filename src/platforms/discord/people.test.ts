import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import { eventually, message, never, openAccount, runAccount, testInbox, toChat } from '../../../test/support/discord-account.ts';
import type { Running, TestAccount, TestInbox } from '../../../test/support/discord-account.ts';
import { PlatformError } from '../../core/errors.ts';
import type { InboundEvent } from '../../core/message.ts';
import { replyTarget } from '../../core/message.ts';
import type { SimulatedMessage } from '../simulator.ts';
import { startDiscordSimulator } from './simulator.ts';
import type { DiscordSimulator } from './simulator.ts';

let simulator: DiscordSimulator;
let account: TestAccount;
let inbox: TestInbox;
let runs: Running[] = [];

const connect = async (options: Readonly<Record<string, unknown>> = {}): Promise<void> => {
  for (const each of runs.splice(0)) await each.stop();
  account = await openAccount(simulator, options, account?.data);
  inbox = testInbox();
  runs.push(await runAccount(account.adapter, inbox));
};

beforeEach(async () => {
  simulator = await startDiscordSimulator();
  account = { ...(await openAccount(simulator)), data: openAccountData(':memory:') };
  await connect();
});
afterEach(async () => {
  for (const each of runs.splice(0)) await each.stop();
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const arrived = async (wanted: (event: InboundEvent) => boolean): Promise<InboundEvent> => {
  await eventually(() => inbox.events.some(wanted), 'the event arrived');
  return inbox.events.find(wanted) ?? assert.fail();
};

const say = async (text: string, more: Partial<SimulatedMessage> = {}): Promise<InboundEvent> => {
  const id = await simulator.say({ chatId: simulator.ids.text, chatType: 'group', senderId: simulator.ids.person, text, ...more });
  return arrived(({ nativeId }) => nativeId === id);
};

const inThread = (): Partial<SimulatedMessage> => ({ chatId: simulator.ids.thread, chatType: 'thread' });
const sent = async (target = toChat(simulator.ids.text), text = 'ours'): Promise<string> => (await account.adapter.send(message(target, text), never)).messageIds[0] ?? assert.fail();

describe('a message is for us', () => {
  it('when it names us, wherever the name stands', async () => {
    const me = `<@${simulator.ids.bot}>`;
    for (const [text, rest] of [[`${me} hello`, 'hello'], [`hello ${me}`, 'hello'], [`<@!${simulator.ids.bot}>, hello`, 'hello'], [`ask ${me} about it`, 'ask about it'], [me, me], [`${me} is not ${me}`, `${me} is not ${me}`]] as const) {
      const event = await say(text);
      assert.deepEqual([event.addressed, event.mentioned, event.text], [true, true, rest]);
    }
  });

  it('when it names a role that we have, and only then', async () => {
    const [ours, other] = [await say(`<@&${simulator.ids.botRole}> hello`), await say('<@&777> hello')];
    assert.deepEqual([ours.mentioned, ours.text, other.mentioned, other.addressed], [true, 'hello', false, false]);
  });

  it('when it answers us, although that is no mention', async () => {
    const event = await say('about that', { replyTo: await sent() });
    assert.deepEqual([event.addressed, event.mentioned, event.replyTo?.isOwn, event.replyTo?.text], [true, false, true, 'ours']);
  });

  it('in a thread where we take part, and not in others', async () => {
    assert.equal((await say('go on', inThread())).addressed, true);
    assert.equal((await say('not ours', { chatId: '1000000000000000777', chatType: 'thread' })).addressed, false);
    assert.equal((await say('for another <@5>', inThread())).addressed, false);
  });

  it('in free channels, and everywhere when no mention is required', async () => {
    assert.equal((await say('just talking')).addressed, false);
    await connect({ free_response_channels: [simulator.ids.text] });
    assert.deepEqual([(await say('just talking')).addressed, (await say('to <@5>')).addressed, (await say('hm', { chatId: '1000000000000000778', chatType: 'thread' })).addressed], [true, true, true]);
    await connect({ require_mention: false });
    assert.deepEqual([(await say('just talking')).addressed, (await say('to <@5>')).addressed], [true, false]);
  });

  it('only in channels that are read', async () => {
    await connect({ ignored_channels: [simulator.ids.text] });
    await simulator.say({ chatId: simulator.ids.text, chatType: 'group', senderId: simulator.ids.person, text: 'unread', mention: true });
    await simulator.say({ chatId: simulator.ids.thread, chatType: 'thread', senderId: simulator.ids.person, text: 'unread too' });
    await say('read', { chatId: simulator.ids.announcements, chatType: 'channel', mention: true });
    await connect({ allowed_channels: [simulator.ids.text] });
    await simulator.say({ chatId: simulator.ids.announcements, chatType: 'channel', senderId: simulator.ids.person, text: 'unread', mention: true });
    await say('a dm', { chatId: simulator.ids.dm, chatType: 'dm' });
    await say('thread of it', inThread());
    assert.deepEqual(inbox.events.map(({ text }) => text), ['a dm', 'thread of it']);
  });
});

describe('an event says', () => {
  it('where it comes from', async () => {
    const [channel, thread, direct] = [await say('x'), await say('x', inThread()), await say('x', { chatId: simulator.ids.dm, chatType: 'dm' })];
    assert.deepEqual(channel.chat, { id: simulator.ids.text, type: 'group', name: 'Workshop / #general', scopeId: simulator.ids.guild });
    assert.deepEqual(thread.chat, { id: simulator.ids.thread, type: 'thread', threadId: simulator.ids.thread, parentId: simulator.ids.text, name: 'Workshop / #general / plans', scopeId: simulator.ids.guild });
    assert.deepEqual([direct.chat.id, direct.chat.type, direct.chat.scopeId, direct.sender.roles], [simulator.ids.dm, 'dm', undefined, undefined]);
  });

  it('which roles the person has in that server', async () => {
    simulator.giveRoles(simulator.ids.person, ['11', '12']);
    assert.deepEqual((await say('x')).sender.roles, ['11', '12']);
  });

  it('what was recorded', async () => {
    const event = await say('', { media: { kind: 'voice', bytes: Buffer.from('opus'), name: 'voice-message.ogg', mime: 'audio/ogg', durationMs: 2500 } });
    assert.deepEqual(event.media.map(({ kind, mime, durationMs }) => [kind, mime, durationMs]), [['voice', 'audio/ogg', 2500]]);
  });

  it('what was passed on, put on paper or stuck on it', async () => {
    const base = { id: '1571559178420355999', channel_id: simulator.ids.dm, type: 0, timestamp: '2026-11-15T10:00:00.000000+00:00', author: { id: '9', username: 'ada' }, content: '', attachments: [], flags: 0 };
    const attachment = { id: '5', filename: 'a.pdf', size: 3, content_type: 'application/pdf', url: 'https://cdn.discordapp.com/a' };
    const cases: readonly [object, string, number][] = [
      [{ message_reference: { type: 1, message_id: '4' }, message_snapshots: [{ message: { content: 'old words', attachments: [attachment] } }] }, '[forwarded] old words', 1],
      [{ sticker_items: [{ id: '1', name: 'Wave', format_type: 1 }] }, '[sticker: Wave]', 0],
      [{ poll: { question: { text: 'Tea?' }, answers: [{ poll_media: { text: 'Yes' } }, { poll_media: { text: 'No' } }] } }, '[poll: Tea? (Yes | No)]', 0],
    ];
    for (const [index, [more, text, files]] of cases.entries()) {
      await simulator.replay({ t: 'MESSAGE_CREATE', d: { ...base, ...more, id: `157155917842035${index}` } });
      const event = await arrived((each) => each.text === text);
      assert.deepEqual([event.media.length, event.replyTo], [files, undefined]);
    }
  });

  it('that it was not a person who spoke, when a webhook did', async () => {
    await simulator.replay({ t: 'MESSAGE_CREATE', d: { id: '1571559178420356000', channel_id: simulator.ids.text, guild_id: simulator.ids.guild, webhook_id: '3', type: 0, timestamp: '2026-11-15T10:00:00Z', author: { id: '3', username: 'Ada' }, content: 'hi', attachments: [] } });
    assert.equal((await arrived(({ text }) => text === 'hi')).sender.isBot, true);
  });

  it('what has changed, each change once', async () => {
    const { messageId = '' } = await say('frist', { mention: true });
    const id = await simulator.edit(simulator.ids.text, messageId, 'first');
    const event = await arrived(({ kind }) => kind === 'edit');
    assert.deepEqual([event.nativeId, event.text, event.messageId], [id, 'first', messageId]);
    await simulator.redeliver(id);
    await eventually(() => inbox.offered.length === 3);
    assert.equal(inbox.events.length, 2);
  });

  it('who reacted how', async () => {
    const id = await sent();
    await simulator.react({ chatId: simulator.ids.text, messageId: id, senderId: simulator.ids.person, emoji: '👍', added: true });
    await simulator.react({ chatId: simulator.ids.text, messageId: id, senderId: simulator.ids.person, emoji: '👍', added: false });
    await eventually(() => inbox.events.length === 2);
    assert.deepEqual(inbox.events.map(({ kind, messageId, reaction, sender }) => [kind, messageId, reaction, sender.id]), [
      ['reaction', id, { emoji: '👍', added: true }, simulator.ids.person],
      ['reaction', id, { emoji: '👍', added: false }, simulator.ids.person],
    ]);
  });
});

describe('a command from the menu', () => {
  const choose = async (name = 'status', words?: string): Promise<InboundEvent> => {
    const id = await simulator.command({ chatId: simulator.ids.text, senderId: simulator.ids.person, name, ...(words !== undefined && { words }) });
    return arrived(({ nativeId }) => nativeId === id);
  };

  it('arrives as it would have been typed, and its answer takes the place that Discord keeps for it', async () => {
    const event = await choose('model', 'gpt now');
    assert.deepEqual([event.kind, event.text, event.addressed, event.awaitsAnswer, event.chat.id], ['message', '/model gpt now', true, true, simulator.ids.text]);
    await account.adapter.send(message(replyTarget(event), 'Done.', { choices: [[{ label: 'Undo', data: 'u' }]] }), never);
    await account.adapter.send(message(replyTarget(event), 'And more.'), never);
    assert.equal(simulator.answerTo(event.nativeId).kind, 5);
    assert.deepEqual(simulator.visible(simulator.ids.text).map(({ text, edited, choices }) => [text, edited, choices.length]), [['Done.', 1, 1], ['And more.', 0, 0]]);
    const [first] = simulator.visible(simulator.ids.text);
    await account.adapter.edits?.edit(first?.id ?? '', message(replyTarget(event), 'Done!'), true, never);
    assert.equal(simulator.visible(simulator.ids.text)[0]?.text, 'Done!');
  });

  it('is answered in its place also when the answer is there before Discord knows that the command has come', async () => {
    const sending = Promise.withResolvers<unknown>();
    inbox.before = async (event) => sending.resolve(account.adapter.send(message(replyTarget(event), 'Quickly.'), never));
    await choose();
    await sending.promise;
    assert.deepEqual(simulator.visible(simulator.ids.text).map(({ text, edited }) => [text, edited]), [['Quickly.', 1]]);
  });

  it('is answered in its place also after a restart, and once however often', async () => {
    const event = await choose();
    await eventually(() => simulator.answerTo(event.nativeId).kind === 5);
    const { adapter } = await openAccount(simulator, {}, account.data);
    simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
    const answer = message(replyTarget(event), 'Fine.');
    await assert.rejects(adapter.send(answer, never), PlatformError);
    await adapter.send(answer, never);
    assert.deepEqual(simulator.visible(simulator.ids.text).map(({ text }) => text), ['Fine.']);
  });

  it('is answered by an ordinary message when its place is gone', async () => {
    const event = await choose();
    await eventually(() => simulator.answerTo(event.nativeId).kind === 5);
    simulator.fail({ what: 'send', fault: { type: 'status', status: 404 } });
    await account.adapter.send(message(replyTarget(event), 'Late.'), never);
    assert.deepEqual(simulator.visible(simulator.ids.text).map(({ text, edited }) => [text, edited]), [['Late.', 0]]);
  });

  it('is confirmed only when it is stored', async () => {
    const gate = Promise.withResolvers<void>();
    inbox.before = () => gate.promise;
    const id = await simulator.command({ chatId: simulator.ids.text, senderId: simulator.ids.person, name: 'status' });
    await eventually(() => inbox.offered.length === 1);
    assert.equal(simulator.answerTo(id).kind, undefined);
    gate.resolve();
    await eventually(() => simulator.answerTo(id).kind === 5);
  });

  it('of somebody who may not is answered to them alone', async () => {
    inbox.verdict = 'skipped';
    const event = await choose();
    await eventually(() => simulator.answerTo(event.nativeId).kind === 4);
    assert.deepEqual(simulator.visible(simulator.ids.text), []);
  });

  it('that takes long is told to wait before Discord gives it up, and that is taken back from somebody who may not', async () => {
    for (const verdict of ['stored', 'skipped'] as const) {
      const gate = Promise.withResolvers<void>();
      inbox.before = () => gate.promise;
      inbox.verdict = verdict;
      const id = await simulator.command({ chatId: simulator.ids.text, senderId: simulator.ids.person, name: 'status' });
      await eventually(() => simulator.answerTo(id).kind === 5, 'it is told to wait');
      gate.resolve();
      const event = await arrived(({ nativeId }) => nativeId === id);
      await eventually(() => inbox.events.includes(event));
      if (verdict === 'stored') await account.adapter.send(message(replyTarget(event), 'At last.'), never);
      else await eventually(() => simulator.log.some(({ method, path }) => method === 'DELETE' && path.endsWith('@original')));
      assert.deepEqual(simulator.visible(simulator.ids.text).map(({ text }) => text), ['At last.']);
      assert.deepEqual(await account.data.list('interaction:'), []);
    }
  });

  it('that comes again after its answer is left alone', async () => {
    const event = await choose();
    await account.adapter.send(message(replyTarget(event), 'Done.'), never);
    await simulator.redeliver(event.nativeId);
    await eventually(() => inbox.offered.length === 2);
    await eventually(() => inbox.aliveCount() > 0);
    await say('next', { mention: true });
    assert.deepEqual(await account.data.list('interaction:'), []);
  });

  it('bears no reaction', async () => {
    const event = await choose();
    await account.adapter.reactions?.set(replyTarget(event), event.messageId ?? '', '👀', never);
  });
});

describe('a press', () => {
  const press = async (): Promise<InboundEvent> => {
    const { messageIds } = await account.adapter.send(message(toChat(simulator.ids.text), 'ok?', { choices: [[{ label: 'Yes', data: 'y:1' }]] }), never);
    const id = await simulator.press(simulator.ids.text, messageIds[0] ?? '', 'y:1', simulator.ids.person);
    return arrived(({ nativeId }) => nativeId === id);
  };

  it('is answered silently, or with words for whoever pressed', async () => {
    const [first, second] = [await press(), await press()];
    await account.adapter.choices?.answer(first, undefined, never);
    await account.adapter.choices?.answer(second, 'Noted.', never);
    assert.deepEqual([simulator.answerTo(first.nativeId), simulator.answerTo(second.nativeId)], [{ kind: 6, text: undefined }, { kind: 4, text: 'Noted.' }]);
    await assert.rejects(account.adapter.choices?.answer(first, undefined, never) ?? Promise.resolve(), (error) => error instanceof PlatformError && error.code === 'not_found');
  });

  it('of somebody who may not has no effect, and no error either', async () => {
    inbox.verdict = 'skipped';
    const event = await press();
    await eventually(() => simulator.answerTo(event.nativeId).kind === 6);
  });
});

describe('automatic threads', () => {
  beforeEach(() => connect({ auto_thread: true }));

  it('are opened by the answer, and the conversation lives there from its first word', async () => {
    const event = await say('Plan my **week**\nplease', { mention: true });
    const { messageId = '' } = event;
    assert.deepEqual([event.chat.id, event.chat.type, event.chat.threadId, event.chat.parentId], [messageId, 'thread', messageId, simulator.ids.text]);
    assert.equal(simulator.threads().length, 1);
    await account.adapter.typing?.show(replyTarget(event), never);
    await account.adapter.send(message(replyTarget(event), 'Gladly.'), never);
    assert.deepEqual(simulator.threads().filter(({ id }) => id === messageId), [{ id: messageId, name: 'Plan my **week**', parentId: simulator.ids.text }]);
    assert.deepEqual([simulator.visible(messageId).map(({ text }) => text), simulator.typing()], [['Gladly.'], [messageId]]);
    assert.equal(simulator.log.findLast(({ path }) => path === `/channels/${messageId}/messages`)?.body['message_reference'], undefined);
    const next = await say('and then?', { chatId: messageId, chatType: 'thread' });
    assert.deepEqual([next.chat.id, next.chat.threadId, next.addressed], [messageId, messageId, true]);
    await account.adapter.reactions?.set(replyTarget(event), messageId, '👀', never);
    assert.deepEqual(simulator.reactionsOn(simulator.ids.text, messageId), ['👀']);
    await simulator.edit(simulator.ids.text, messageId, `<@${simulator.ids.bot}> Plan my month`);
    const edit = await arrived(({ kind }) => kind === 'edit');
    assert.deepEqual([edit.chat.id, edit.text], [messageId, 'Plan my month']);
  });

  it('are opened once, also when the answer is repeated by another process', async () => {
    const event = await say('hello', { mention: true });
    const { adapter } = await openAccount(simulator, { auto_thread: true }, account.data);
    simulator.fail({ what: 'send', fault: { type: 'refuse' } });
    await assert.rejects(account.adapter.send(message(replyTarget(event), 'Hi.'), never), PlatformError);
    await adapter.send(message(replyTarget(event), 'Hi.'), never);
    assert.deepEqual(simulator.visible(event.chat.id).map(({ text }) => text), ['Hi.']);
  });

  it('are not opened for strangers, answers, talk among others, and where none are wanted', async () => {
    inbox.verdict = 'skipped';
    const stranger = await say('let me in', { mention: true });
    assert.equal(await account.data.get(`thread:${stranger.chat.id}`), undefined);
    inbox.verdict = 'stored';
    assert.equal((await say('just talking')).chat.type, 'group');
    assert.equal((await say('about that', { replyTo: await sent() })).chat.type, 'group');
    assert.equal((await say('inside', inThread())).chat.id, simulator.ids.thread);
    await connect({ auto_thread: true, no_thread_channels: [simulator.ids.text] });
    assert.equal((await say('here', { mention: true })).chat.type, 'group');
  });
});

describe('threads for a handoff', () => {
  it('open in channels, beside another thread and in forums, but not in direct chats', async () => {
    for (const [target, parent] of [[toChat(simulator.ids.text), simulator.ids.text], [toChat(simulator.ids.announcements, { chatType: 'channel' }), simulator.ids.announcements], [toChat(simulator.ids.thread, { chatType: 'thread' }), simulator.ids.text], [toChat(simulator.ids.forum, { chatType: 'channel' }), simulator.ids.forum]] as const) {
      const thread = (await account.adapter.threads?.open(target, 'Handed over', never)) ?? assert.fail('no thread');
      assert.deepEqual(simulator.threads().find(({ id }) => id === thread.chatId), { id: thread.chatId, name: 'Handed over', parentId: parent });
      assert.deepEqual([thread.chatType, thread.threadId], ['thread', thread.chatId]);
      await account.adapter.send(message(thread, 'inside'), never);
    }
    assert.equal(await account.adapter.threads?.open(toChat(simulator.ids.dm, { chatType: 'dm' }), 'x', never), undefined);
  });

  it('hang on a message of ours where they may not stand alone', async () => {
    simulator.fail({ what: 'send', fault: { type: 'status', status: 403 } });
    const thread = await account.adapter.threads?.open(toChat(simulator.ids.text), 'Handed over', never);
    assert.equal(simulator.visible(simulator.ids.text)[0]?.id, thread?.chatId);
    assert.equal(simulator.visible(simulator.ids.text)[0]?.text, '🧵 Handed over');
  });
});

describe('the menu and the directory', () => {
  it('publish commands as Discord allows them, and only when they have changed', async () => {
    const commands = [{ name: 'Reload-MCP', description: 'x'.repeat(150) }, { name: 'stop', description: '' }];
    for (let times = 0; times < 2; times += 1) await account.adapter.menu?.publish(commands, never);
    assert.deepEqual((simulator.commands() as { name: string; description: string }[]).map(({ name, description }) => [name, description.length]), [['reload_mcp', 100], ['stop', 4]]);
    assert.equal(simulator.log.filter(({ method }) => method === 'PUT').length, 1);
    await account.adapter.menu?.publish(commands.slice(1), never);
    assert.equal(simulator.commands().length, 1);
    await connect({ slash_commands: false });
    assert.equal(account.adapter.menu, undefined);
  });

  it('list channels, forums and threads with the server they are in', async () => {
    const listed = (await account.adapter.directory?.list(never)) ?? [];
    assert.deepEqual(listed.map(({ name, type, scopeName }) => [name, type, scopeName]), [['general', 'group', 'Workshop'], ['news', 'channel', 'Workshop'], ['ideas', 'channel', 'Workshop'], ['plans', 'thread', 'Workshop']]);
  });
});

describe('a reaction of ours', () => {
  it('is changed although Discord takes one at a time', async () => {
    const { messageId = '' } = await say('look');
    simulator.limits.exhausted.set(`PUT ${simulator.ids.text}`, 0.05);
    const target = toChat(simulator.ids.text);
    await account.adapter.reactions?.set(target, messageId, '👀', never);
    assert.deepEqual(simulator.reactionsOn(simulator.ids.text, messageId), ['👀']);
    await account.adapter.reactions?.set(target, messageId, '✅', never);
    assert.deepEqual(simulator.reactionsOn(simulator.ids.text, messageId), ['✅']);
    await account.adapter.reactions?.set(target, messageId, null, never);
    assert.deepEqual(simulator.reactionsOn(simulator.ids.text, messageId), []);
  });

  it('that Discord does not know is refused, and none are set where the owner wants none', async () => {
    const { messageId = '' } = await say('look');
    await assert.rejects(account.adapter.reactions?.set(toChat(simulator.ids.text), messageId, 'abc', never) ?? Promise.resolve(), (error) => error instanceof PlatformError && error.code === 'unsupported');
    await connect({ reactions: false });
    assert.equal(account.adapter.reactions, undefined);
  });
});

describe('files of people', () => {
  it('are fetched from Discord only, whatever an address says', async () => {
    const event = await say('see', { media: { kind: 'document', bytes: Buffer.from('x'), name: 'a.txt', mime: 'text/plain' } });
    const [ref] = event.media;
    assert.ok(ref !== undefined);
    const { adapter } = await openAccount(simulator, { base_url: simulator.baseUrl.replace('127.0.0.1', 'localhost') }, account.data);
    await assert.rejects(adapter.media?.open(ref, never) ?? Promise.resolve(), (error) => error instanceof PlatformError && error.code === 'rejected' && /host/.test(error.message));
  });
});
