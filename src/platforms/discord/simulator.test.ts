import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ActionRowBuilder, ButtonBuilder, ButtonStyle, ChannelType, Client, GatewayIntentBits, Partials, REST, Routes } from 'discord.js';
import type { ClientOptions, Message } from 'discord.js';
import { until } from '../../../test/support/until.ts';
import { startDiscordSimulator } from './simulator.ts';
import type { DiscordSimulator } from './simulator.ts';

let simulator: DiscordSimulator;
const clients: Client[] = [];

beforeEach(async () => {
  simulator = await startDiscordSimulator();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.destroy();
  await simulator[Symbol.asyncDispose]();
});

const { Guilds, GuildMessages, DirectMessages, MessageContent, GuildMessageReactions } = GatewayIntentBits;

/** A bot of discord.js, which knows nothing of us. */
const connect = async (more: Partial<ClientOptions> = {}): Promise<Client> => {
  const client = new Client({ intents: [Guilds, GuildMessages, DirectMessages, MessageContent, GuildMessageReactions], partials: [Partials.Channel, Partials.Message], rest: { api: simulator.baseUrl }, ...more });
  clients.push(client);
  const ready = new Promise((resolve) => client.once('clientReady', resolve));
  await client.login(simulator.token);
  await ready;
  return client;
};

const call = async (method: string, path: string, body?: object, token = simulator.token): Promise<{ status: number; json: Record<string, unknown> }> => {
  const response = await fetch(`${simulator.baseUrl}/v10${path}`, { method, headers: { authorization: `Bot ${token}`, 'content-type': 'application/json' }, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
};

describe('the simulator', () => {
  it('serves a bot of discord.js: messages, mentions, replies, files and edits', async () => {
    const { ids } = simulator;
    const client = await connect();
    client.on('messageCreate', async (message: Message) => {
      if (message.author.bot) return;
      const answer = await message.reply({ content: `echo: ${message.cleanContent} ${message.mentions.has(client.user?.id ?? '')} ${message.attachments.size}`, files: [{ attachment: Buffer.from('notes'), name: 'notes.txt' }] });
      await answer.edit(`${answer.content}!`);
      await message.react('👍');
    });
    const id = await simulator.say({ chatId: ids.text, chatType: 'group', senderId: ids.person, text: 'hello', mention: true });
    await simulator.say({ chatId: ids.dm, chatType: 'dm', senderId: ids.person, text: 'alone', media: { kind: 'photo', bytes: new Uint8Array([1]), name: 'a.png', mime: 'image/png' } });
    await until(() => simulator.visible(ids.text)[0]?.text.endsWith('!') === true && simulator.visible(ids.dm)[0]?.text.endsWith('!') === true && simulator.reactionsOn(ids.text, id).length > 0);
    const [answer] = simulator.visible(ids.text);
    assert.deepEqual([answer?.text, answer?.replyTo, answer?.media[0]?.name, answer?.edited], ['echo: @hermes hello true 0!', id, 'notes.txt', 1]);
    assert.equal(simulator.visible(ids.dm)[0]?.text, 'echo: alone false 1!');
    assert.deepEqual(simulator.violations(), []);
  });

  it('serves a bot of discord.js on two connections: servers on one, direct chats on the other', async () => {
    simulator.gateway.shards = 2;
    simulator.gateway.maxConcurrency = 16;
    const client = await connect({ shards: 'auto' });
    const heard: (readonly [string, number | undefined])[] = [];
    client.on('messageCreate', (message: Message) => void heard.push([message.content, message.guild?.shardId]));
    await simulator.say({ chatId: simulator.ids.text, chatType: 'group', senderId: simulator.ids.person, text: 'hello' });
    await simulator.say({ chatId: simulator.ids.dm, chatType: 'dm', senderId: simulator.ids.person, text: 'alone' });
    await until(() => heard.length === 2);
    assert.deepEqual([heard.toSorted(), client.ws.shards.size], [[['alone', undefined], ['hello', 1]], 2]);
  });

  it('serves its buttons, commands, threads and posts', async () => {
    const { ids } = simulator;
    const client = await connect();
    client.on('interactionCreate', async (interaction) => {
      if (interaction.isButton()) await interaction.deferUpdate();
      if (interaction.isChatInputCommand()) {
        await interaction.deferReply();
        await interaction.editReply(`did ${interaction.commandName} ${interaction.options.getString('text')}`);
      }
    });
    await client.application?.commands.set([{ name: 'status', description: 'Says how it is' }]);
    assert.deepEqual((await client.application?.commands.fetch())?.map(({ name }) => name), ['status']);
    const channel = await client.channels.fetch(ids.text);
    assert.ok(channel?.type === ChannelType.GuildText);
    const row = new ActionRowBuilder<ButtonBuilder>().addComponents(new ButtonBuilder().setCustomId('yes').setLabel('Yes').setStyle(ButtonStyle.Primary));
    const question = await channel.send({ content: 'Shall I?', components: [row] });
    const pressed = await simulator.press(ids.text, question.id, 'yes', ids.person);
    const asked = await simulator.command({ chatId: ids.text, senderId: ids.person, name: 'status', words: 'now' });
    await until(() => simulator.answerTo(pressed).kind === 6 && simulator.visible(ids.text).some(({ text }) => text === 'did status now'));
    assert.equal(simulator.answerTo(asked).kind, 5);
    const thread = await channel.threads.create({ name: 'Plans' });
    await thread.send('inside');
    assert.equal(simulator.visible(thread.id)[0]?.threadId, thread.id);
    const forum = await client.channels.fetch(ids.forum);
    assert.ok(forum?.type === ChannelType.GuildForum);
    const post = await forum.threads.create({ name: 'Idea', message: { content: 'What if' } });
    assert.equal(simulator.visible(post.id)[0]?.text, 'What if');
    assert.deepEqual(simulator.violations(), []);
  });

  it('lets a connection of discord.js break and takes its session up again, without losing anything', async () => {
    const { ids } = simulator;
    const client = await connect();
    const heard: string[] = [];
    client.on('messageCreate', (message) => void heard.push(message.content));
    simulator.gateway.disconnect(4000);
    simulator.sayMeanwhile({ chatId: ids.text, chatType: 'group', senderId: ids.person, text: 'meanwhile' });
    await until(() => heard.includes('meanwhile'), 'the message is replayed');
    assert.equal(simulator.gateway.frames.filter(({ op }) => op === 6).length, 1);
  });

  it('limits discord.js as Discord does', async () => {
    const rest = new REST({ api: simulator.baseUrl, rejectOnRateLimit: () => true }).setToken(simulator.token);
    simulator.limits.channels.set(simulator.ids.text, 2.5);
    await assert.rejects(rest.post(Routes.channelMessages(simulator.ids.text), { body: { content: 'x' } }), (error: { retryAfter?: number; global?: boolean }) => (error.retryAfter ?? 0) >= 2500 && error.global === false);
  });

  for (const [what, path, body, code] of [
    ['a text that is too long', '/channels/1000000000000000010/messages', { content: '😀'.repeat(2001) }, 50035],
    ['an empty message', '/channels/1000000000000000010/messages', { content: ' ' }, 50006],
    ['a reply to nothing', '/channels/1000000000000000010/messages', { content: 'x', message_reference: { message_id: '5' } }, 50035],
    ['button data of 101 characters', '/channels/1000000000000000010/messages', { content: 'x', components: [{ type: 1, components: [{ type: 2, style: 1, label: 'b', custom_id: 'x'.repeat(101) }] }] }, 50035],
    ['a message in a forum', '/channels/1000000000000000012/messages', { content: 'x' }, 50008],
    ['a channel that does not exist', '/channels/4/messages', { content: 'x' }, 10003],
    ['a voice message without a recording', '/channels/1000000000000000010/messages', { content: '', flags: 8192 }, 50161],
    ['a thread in a direct chat', '/channels/1000000000000000020/threads', { name: 'x' }, 50024],
  ] as const) {
    it(`refuses ${what} with Discord's code`, async () => {
      assert.equal((await call('POST', path, body)).json['code'], code);
    });
  }

  it('shows a nonce once', async () => {
    const body = { content: 'once', nonce: 'n1', enforce_nonce: true };
    const path = `/channels/${simulator.ids.text}/messages`;
    assert.equal((await call('POST', path, body)).json['id'], (await call('POST', path, body)).json['id']);
    assert.equal(simulator.visible(simulator.ids.text).length, 1);
  });

  it('knows only its own token, and uses a planned fault up', async () => {
    assert.equal((await call('GET', '/users/@me', undefined, 'wrong')).status, 401);
    simulator.fail({ what: 'identify', fault: { type: 'status', status: 500 }, count: 2 });
    const statuses = [await call('GET', '/users/@me'), await call('GET', '/users/@me'), await call('GET', '/users/@me')].map(({ status }) => status);
    assert.deepEqual(statuses, [500, 500, 200]);
  });
});
