import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { message } from '../../../test/support/test-account.ts';
import { PlatformError } from '../../core/errors.ts';
import { replyTarget } from '../../core/message.ts';
import { failure, never } from '../conformance-bench.ts';
import { discordPeople, openAccount, toChat } from './discord.test-support.ts';

const discord = discordPeople();

describe('automatic threads', () => {
  beforeEach(() => discord.connect({ auto_thread: true }));

  it('are opened by the answer, and the conversation lives there from its first word', async () => {
    const event = await discord.say('Plan my **week**\nplease', { mention: true });
    const { messageId = '' } = event;
    assert.deepEqual([event.chat.id, event.chat.type, event.chat.threadId, event.chat.parentId], [messageId, 'thread', messageId, discord.simulator.ids.text]);
    assert.equal(discord.simulator.threads().length, 1);
    await discord.account.adapter.typing?.show(replyTarget(event), never);
    await discord.account.adapter.send(message(replyTarget(event), 'Gladly.'), never);
    assert.deepEqual(discord.simulator.threads().filter(({ id }) => id === messageId), [{ id: messageId, name: 'Plan my **week**', parentId: discord.simulator.ids.text }]);
    assert.deepEqual([discord.simulator.visible(messageId).map(({ text }) => text), discord.simulator.typing()], [['Gladly.'], [messageId]]);
    assert.equal(discord.simulator.log.findLast(({ path }) => path === `/channels/${messageId}/messages`)?.body['message_reference'], undefined);
    const next = await discord.say('and then?', { chatId: messageId, chatType: 'thread' });
    assert.deepEqual([next.chat.id, next.chat.threadId, next.addressed], [messageId, messageId, true]);
    await discord.account.adapter.reactions?.set(replyTarget(event), messageId, '👀', never);
    assert.deepEqual(discord.simulator.reactionsOn(discord.simulator.ids.text, messageId), ['👀']);
    await discord.simulator.edit(discord.simulator.ids.text, messageId, `<@${discord.simulator.ids.bot}> Plan my month`);
    const edit = await discord.arrived(({ kind }) => kind === 'edit');
    assert.deepEqual([edit.chat.id, edit.text], [messageId, 'Plan my month']);
  });

  it('are where a message belongs that is changed before it is answered', async () => {
    const event = await discord.say('Plan my week', { mention: true });
    await discord.simulator.edit(discord.simulator.ids.text, event.chat.id, `<@${discord.simulator.ids.bot}> Plan my month`);
    const edit = await discord.arrived(({ kind }) => kind === 'edit');
    assert.deepEqual(edit.chat, event.chat);
    await discord.account.adapter.send(message(replyTarget(event), 'Gladly.'), never);
    assert.deepEqual(discord.simulator.visible(event.chat.id).map(({ text }) => text), ['Gladly.']);
  });

  it('are opened once, also when the answer is repeated by another process', async () => {
    const event = await discord.say('hello', { mention: true });
    const { adapter } = await openAccount(discord.simulator, { auto_thread: true }, discord.account.data);
    discord.simulator.fail({ what: 'send', fault: { type: 'refuse' } });
    await assert.rejects(discord.account.adapter.send(message(replyTarget(event), 'Hi.'), never), PlatformError);
    await adapter.send(message(replyTarget(event), 'Hi.'), never);
    assert.deepEqual(discord.simulator.visible(event.chat.id).map(({ text }) => text), ['Hi.']);
  });

  it('are not opened for strangers, answers, talk among others, and where none are wanted', async () => {
    discord.inbox.verdict = 'skipped';
    const stranger = await discord.say('let me in', { mention: true });
    discord.inbox.verdict = 'denied';
    const denied = await discord.say('let me in, please', { mention: true });
    for (const { chat } of [stranger, denied]) assert.equal(await discord.account.data.get(`thread:${chat.id}`), undefined);
    discord.inbox.verdict = 'stored';
    assert.equal((await discord.say('just talking')).chat.type, 'group');
    assert.equal((await discord.say('about that', { replyTo: await discord.sent() })).chat.type, 'group');
    assert.equal((await discord.say('inside', discord.inThread())).chat.id, discord.simulator.ids.thread);
    await discord.connect({ auto_thread: true, no_thread_channels: [discord.simulator.ids.text] });
    assert.equal((await discord.say('here', { mention: true })).chat.type, 'group');
  });
});

describe('threads for a handoff', () => {
  it('open in channels, beside another thread and in forums, but not in direct chats', async () => {
    for (const [target, parent] of [[toChat(discord.simulator.ids.text), discord.simulator.ids.text], [toChat(discord.simulator.ids.announcements, { chatType: 'channel' }), discord.simulator.ids.announcements], [toChat(discord.simulator.ids.thread, { chatType: 'thread' }), discord.simulator.ids.text], [toChat(discord.simulator.ids.forum, { chatType: 'channel' }), discord.simulator.ids.forum]] as const) {
      const thread = (await discord.account.adapter.threads?.open(target, 'Handed over', never)) ?? assert.fail('no thread');
      assert.deepEqual(discord.simulator.threads().find(({ id }) => id === thread.chatId), { id: thread.chatId, name: 'Handed over', parentId: parent });
      assert.deepEqual([thread.chatType, thread.threadId], ['thread', thread.chatId]);
      await discord.account.adapter.send(message(thread, 'inside'), never);
    }
    assert.equal(await discord.account.adapter.threads?.open(toChat(discord.simulator.ids.dm, { chatType: 'dm' }), 'x', never), undefined);
  });

  it('hang on a message of ours where they may not stand alone', async () => {
    discord.simulator.fail({ what: 'send', fault: { type: 'status', status: 403 } });
    const thread = await discord.account.adapter.threads?.open(toChat(discord.simulator.ids.text), 'Handed over', never);
    assert.equal(discord.simulator.visible(discord.simulator.ids.text)[0]?.id, thread?.chatId);
    assert.equal(discord.simulator.visible(discord.simulator.ids.text)[0]?.text, '🧵 Handed over');
  });
});

describe('threads that we have opened', () => {
  const names = () => discord.account.adapter.names ?? assert.fail('threads cannot be named');
  const nameOf = (id: string): string | undefined => discord.simulator.threads().find((thread) => thread.id === id)?.name;
  const renames = (): number => discord.simulator.log.filter(({ method }) => method === 'PATCH').length;

  it('are called like their conversation, also after a restart, and not twice', async () => {
    await discord.connect({ auto_thread: true });
    const event = await discord.say('Plan my week', { mention: true });
    const target = replyTarget(event);
    await discord.account.adapter.send(message(target, 'Gladly.'), never);
    const { adapter } = await openAccount(discord.simulator, { auto_thread: true }, discord.account.data);
    for (let times = 0; times < 2; times += 1) await adapter.names?.set(target, 'A quiet week', never);
    assert.deepEqual([nameOf(event.chat.id), renames()], ['A quiet week', 1]);
    const thread = (await discord.account.adapter.threads?.open(toChat(discord.simulator.ids.text), 'Handed over', never)) ?? assert.fail('no thread');
    await names().set(thread, 'x'.repeat(300), never);
    assert.equal(nameOf(thread.chatId), `${'x'.repeat(99)}…`);
  });

  it('have the name from the beginning when the answer comes later than the name', async () => {
    await discord.connect({ auto_thread: true });
    const event = await discord.say('Plan my week', { mention: true });
    await names().set(replyTarget(event), 'A quiet week', never);
    await discord.account.adapter.send(message(replyTarget(event), 'Gladly.'), never);
    assert.deepEqual([nameOf(event.chat.id), renames()], ['A quiet week', 0]);
  });

  it('keep the name that a person gives them, and those of people theirs', async () => {
    const thread = (await discord.account.adapter.threads?.open(toChat(discord.simulator.ids.text), 'Handed over', never)) ?? assert.fail('no thread');
    discord.simulator.rename(thread.chatId, 'Mine');
    for (let times = 0; times < 2; times += 1) await names().set(thread, 'A quiet week', never);
    await names().set(toChat(discord.simulator.ids.thread, { chatType: 'thread' }), 'A quiet week', never);
    await names().set(toChat(discord.simulator.ids.text), 'A quiet week', never);
    assert.deepEqual([nameOf(thread.chatId), nameOf(discord.simulator.ids.thread), renames()], ['Mine', 'plans', 0]);
  });

  it('say when there are too many names, and messages do not wait for that', async () => {
    const thread = (await discord.account.adapter.threads?.open(toChat(discord.simulator.ids.text), 'Handed over', never)) ?? assert.fail('no thread');
    discord.simulator.fail({ what: 'edit', fault: { type: 'rate_limit', retryAfterMs: 600_000 } });
    const { facts } = await failure(names().set(thread, 'A quiet week', never), 'rate_limited');
    assert.deepEqual([facts.scope, facts.retryAfterMs], ['chat', 600_000]);
    await discord.account.adapter.send(message(thread, 'still talking'), never);
    assert.equal(nameOf(thread.chatId), 'Handed over');
  });
});
