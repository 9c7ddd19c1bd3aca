import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { discordPeople } from './discord.test-support.ts';

const discord = discordPeople();

describe('a message is for us', () => {
  it('when it names us, wherever the name stands', async () => {
    const me = `<@${discord.simulator.ids.bot}>`;
    for (const [text, rest] of [[`${me} hello`, 'hello'], [`hello ${me}`, 'hello'], [`<@!${discord.simulator.ids.bot}>, hello`, 'hello'], [`ask ${me} about it`, 'ask about it'], [me, me], [`${me} is not ${me}`, `${me} is not ${me}`]] as const) {
      const event = await discord.say(text);
      assert.deepEqual([event.addressed, event.mentioned, event.text], [true, true, rest]);
    }
  });

  it('when it names a role that we have, and only then', async () => {
    const [ours, other] = [await discord.say(`<@&${discord.simulator.ids.botRole}> hello`), await discord.say('<@&777> hello')];
    assert.deepEqual([ours.mentioned, ours.text, other.mentioned, other.addressed], [true, 'hello', false, false]);
  });

  it('when it answers us, although that is no mention', async () => {
    const event = await discord.say('about that', { replyTo: await discord.sent() });
    assert.deepEqual([event.addressed, event.mentioned, event.replyTo?.isOwn, event.replyTo?.text], [true, false, true, 'ours']);
  });

  it('in a thread where we take part, and not in others', async () => {
    assert.equal((await discord.say('go on', discord.inThread())).addressed, true);
    assert.equal((await discord.say('not ours', { chatId: '1000000000000000777', chatType: 'thread' })).addressed, false);
    assert.equal((await discord.say('for another <@5>', discord.inThread())).addressed, false);
  });

  it('in free channels, and everywhere when no mention is required', async () => {
    assert.equal((await discord.say('just talking')).addressed, false);
    await discord.connect({ free_response_channels: [discord.simulator.ids.text] });
    assert.deepEqual([(await discord.say('just talking')).addressed, (await discord.say('to <@5>')).addressed, (await discord.say('hm', { chatId: '1000000000000000778', chatType: 'thread' })).addressed], [true, true, true]);
    await discord.connect({ require_mention: false });
    assert.deepEqual([(await discord.say('just talking')).addressed, (await discord.say('to <@5>')).addressed], [true, false]);
  });

  it('only in channels that are read', async () => {
    await discord.connect({ ignored_channels: [discord.simulator.ids.text] });
    await discord.simulator.say({ chatId: discord.simulator.ids.text, chatType: 'group', senderId: discord.simulator.ids.person, text: 'unread', mention: true });
    await discord.simulator.say({ chatId: discord.simulator.ids.thread, chatType: 'thread', senderId: discord.simulator.ids.person, text: 'unread too' });
    await discord.say('read', { chatId: discord.simulator.ids.announcements, chatType: 'channel', mention: true });
    await discord.connect({ allowed_channels: [discord.simulator.ids.text] });
    await discord.simulator.say({ chatId: discord.simulator.ids.announcements, chatType: 'channel', senderId: discord.simulator.ids.person, text: 'unread', mention: true });
    await discord.say('a dm', { chatId: discord.simulator.ids.dm, chatType: 'dm' });
    await discord.say('thread of it', discord.inThread());
    assert.deepEqual(discord.inbox.events.map(({ text }) => text), ['a dm', 'thread of it']);
  });
});

describe('an event says', () => {
  it('where it comes from', async () => {
    const [channel, thread, direct] = [await discord.say('x'), await discord.say('x', discord.inThread()), await discord.say('x', { chatId: discord.simulator.ids.dm, chatType: 'dm' })];
    assert.deepEqual(channel.chat, { id: discord.simulator.ids.text, type: 'group', name: 'Workshop / #general', scopeId: discord.simulator.ids.guild });
    assert.deepEqual(thread.chat, { id: discord.simulator.ids.thread, type: 'thread', threadId: discord.simulator.ids.thread, parentId: discord.simulator.ids.text, name: 'Workshop / #general / plans', scopeId: discord.simulator.ids.guild });
    assert.deepEqual([direct.chat.id, direct.chat.type, direct.chat.scopeId, direct.sender.roles], [discord.simulator.ids.dm, 'dm', undefined, undefined]);
  });

  it('which roles the person has in that server', async () => {
    discord.simulator.giveRoles(discord.simulator.ids.person, ['11', '12']);
    assert.deepEqual((await discord.say('x')).sender.roles, ['11', '12']);
  });

  it('what was recorded', async () => {
    const event = await discord.say('', { media: { kind: 'voice', bytes: Buffer.from('opus'), name: 'voice-message.ogg', mime: 'audio/ogg', durationMs: 2500 } });
    assert.deepEqual(event.media.map(({ kind, mime, durationMs }) => [kind, mime, durationMs]), [['voice', 'audio/ogg', 2500]]);
  });

  it('what was passed on, put on paper or stuck on it', async () => {
    const base = { id: '1571559178420355999', channel_id: discord.simulator.ids.dm, type: 0, timestamp: '2026-11-15T10:00:00.000000+00:00', author: { id: '9', username: 'ada' }, content: '', attachments: [], flags: 0 };
    const attachment = { id: '5', filename: 'a.pdf', size: 3, content_type: 'application/pdf', url: 'https://cdn.discordapp.com/a' };
    const cases: readonly [object, string, number][] = [
      [{ message_reference: { type: 1, message_id: '4' }, message_snapshots: [{ message: { content: 'old words', attachments: [attachment] } }] }, '[forwarded] old words', 1],
      [{ sticker_items: [{ id: '1', name: 'Wave', format_type: 1 }] }, '[sticker: Wave]', 0],
      [{ poll: { question: { text: 'Tea?' }, answers: [{ poll_media: { text: 'Yes' } }, { poll_media: { text: 'No' } }] } }, '[poll: Tea? (Yes | No)]', 0],
    ];
    for (const [index, [more, text, files]] of cases.entries()) {
      await discord.simulator.replay({ t: 'MESSAGE_CREATE', d: { ...base, ...more, id: `157155917842035${index}` } });
      const event = await discord.arrived((each) => each.text === text);
      assert.deepEqual([event.media.length, event.replyTo], [files, undefined]);
    }
  });

  it('that it was not a person who spoke, when a webhook did', async () => {
    await discord.simulator.replay({ t: 'MESSAGE_CREATE', d: { id: '1571559178420356000', channel_id: discord.simulator.ids.text, guild_id: discord.simulator.ids.guild, webhook_id: '3', type: 0, timestamp: '2026-11-15T10:00:00Z', author: { id: '3', username: 'Ada' }, content: 'hi', attachments: [] } });
    assert.equal((await discord.arrived(({ text }) => text === 'hi')).sender.isBot, true);
  });

  it('what has changed, each change once', async () => {
    const { messageId = '' } = await discord.say('frist', { mention: true });
    const id = await discord.simulator.edit(discord.simulator.ids.text, messageId, 'first');
    const event = await discord.arrived(({ kind }) => kind === 'edit');
    assert.deepEqual([event.nativeId, event.text, event.messageId], [id, 'first', messageId]);
    await discord.simulator.redeliver(id);
    await until(() => discord.inbox.offered.length === 3);
    assert.equal(discord.inbox.events.length, 2);
  });

  it('who reacted how', async () => {
    const id = await discord.sent();
    await discord.simulator.react({ chatId: discord.simulator.ids.text, messageId: id, senderId: discord.simulator.ids.person, emoji: '👍', added: true });
    await discord.simulator.react({ chatId: discord.simulator.ids.text, messageId: id, senderId: discord.simulator.ids.person, emoji: '👍', added: false });
    await until(() => discord.inbox.events.length === 2);
    assert.deepEqual(discord.inbox.events.map(({ kind, messageId, reaction, sender }) => [kind, messageId, reaction, sender.id]), [
      ['reaction', id, { emoji: '👍', added: true }, discord.simulator.ids.person],
      ['reaction', id, { emoji: '👍', added: false }, discord.simulator.ids.person],
    ]);
  });
});
