import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { OutboundMedia } from '../../core/message.ts';
import { eventually, failure, never } from '../conformance-bench.ts';
import { startSlackSimulator } from './simulator.ts';
import type { SlackSimulator } from './simulator.ts';
import { message } from '../../../test/support/test-account.ts';
import { channel, dm, openAccount, runAccount, secondTeam, target } from './slack.test-support.ts';
import type { TestAccount } from '../../../test/support/test-account.ts';

let simulator: SlackSimulator;
let account: TestAccount;

beforeEach(async () => {
  simulator = await startSlackSimulator();
  account = await openAccount(simulator);
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const calls = (method: string): number => simulator.log.filter((call) => call.method === method).length;
const shown = (chatId: string = dm.chatId): readonly string[] => simulator.visible(chatId).map(({ text }) => text);

describe('sending', () => {
  it('goes into the thread of the target, and into the channel if that is wanted', async () => {
    const ts = await simulator.say({ ...channel, text: 'question' });
    await account.adapter.send(message(target(channel, { threadId: ts, replyTo: ts }), 'answer'), never);
    assert.deepEqual(simulator.visible(channel.chatId).map(({ text, threadId }) => [text, threadId]), [['answer', ts]]);
    const loud = await openAccount(simulator, { reply_broadcast: true });
    await loud.adapter.send(message(target(channel, { threadId: ts }), 'for all'), never);
    assert.equal(simulator.log.findLast(({ method }) => method === 'chat.postMessage')?.args['reply_broadcast'], 'true');
  });

  it('says that a thread is gone', async () => {
    const { facts } = await failure(account.adapter.send(message(target(channel, { threadId: '1.000001' }), 'x'), never), 'not_found');
    assert.equal(facts.missing, 'thread');
    await failure(account.adapter.send(message(target(channel, { threadId: 'nonsense' }), 'x'), never), 'not_found');
  });

  it('reaches a person by id and by name', async () => {
    for (const chatId of ['user:U0PERSON01', 'U0PERSON01', 'user_name:ada']) await account.adapter.send(message(target({ chatId, chatType: 'dm' }), chatId), never);
    assert.deepEqual(shown(), ['user:U0PERSON01', 'U0PERSON01', 'user_name:ada']);
    assert.equal(calls('conversations.open'), 3);
    await account.adapter.send(message(target({ chatId: 'user:U0PERSON01', chatType: 'dm' }), 'again'), never);
    assert.equal(calls('conversations.open'), 3);
    await failure(account.adapter.send(message(target({ chatId: 'user_name:nobody', chatType: 'dm' }), 'x'), never), 'chat_gone');
  });

  it('shows a long text with buttons in several sections, with code still code', async () => {
    const code = `\`\`\`\n${'line of code\n'.repeat(280)}\`\`\``;
    await account.adapter.send(message(target(dm), `Shall I run this?\n${code}`, { choices: [[{ label: 'Yes', data: 'y' }]] }), never);
    const [{ text = '', choices = [] } = {}] = simulator.visible(dm.chatId);
    assert.equal(text.match(/line of code/g)?.length, 280);
    assert.doesNotMatch(text, /```/);
    assert.deepEqual(choices, [{ label: 'Yes', data: 'y' }]);
  });

  it('cuts a label that is too long, and takes the buttons away with the next edit', async () => {
    const { messageIds } = await account.adapter.send(message(target(dm), 'choose', { choices: [[{ label: 'x'.repeat(100), data: 'y' }]] }), never);
    assert.equal(simulator.visible(dm.chatId)[0]?.choices[0]?.label.length, 75);
    await account.adapter.edits?.edit(messageIds[0] ?? '', message(target(dm), 'chosen'), true, never);
    assert.deepEqual(simulator.visible(dm.chatId).map(({ text, choices }) => [text, choices]), [['chosen', []]]);
  });

  it('keeps plain text plain in an edit as well', async () => {
    const { messageIds } = await account.adapter.send(message(target(dm), 'x'), never);
    await account.adapter.edits?.edit(messageIds[0] ?? '', message(target(dm), '*a* <b> `c`', { plain: true }), true, never);
    assert.deepEqual(shown(), ['*a* <b> `c`']);
  });

  for (const [error, code] of [['not_in_channel', 'forbidden'], ['is_archived', 'chat_gone'], ['channel_not_found', 'chat_gone']] as const) {
    it(`calls ${error} ${code}`, async () => {
      simulator.refuseChannel(channel.chatId, error);
      await failure(account.adapter.send(message(target(channel), 'x'), never), code);
      await account.adapter.send(message(target(dm), 'elsewhere'), never);
    });
  }

  it('names the scope that is missing', async () => {
    simulator.refuseMethod('chat.postMessage', { error: 'missing_scope', more: { needed: 'chat:write', provided: 'users:read' } });
    const error = await failure(account.adapter.send(message(target(dm), 'x'), never), 'rejected');
    assert.match(error.message, /chat:write/);
  });
});

describe('limits', () => {
  it('of one channel leave the others alone', async () => {
    simulator.limitChannel(channel.chatId, 2000);
    const { facts } = await failure(account.adapter.send(message(target(channel), 'slow'), never), 'rate_limited');
    assert.deepEqual([facts.scope, facts.retryAfterMs], ['chat', 2000]);
    await account.adapter.send(message(target(dm), 'fast'), never);
    assert.deepEqual(shown(), ['fast']);
  });

  it('of the account are called that', async () => {
    simulator.fail({ what: 'identify', fault: { type: 'rate_limit', retryAfterMs: 1000 } });
    const { facts } = await failure(account.adapter.identify(never), 'rate_limited');
    assert.equal(facts.scope, 'account');
  });
});

describe('a message whose fate is unknown', () => {
  it('is found again, in a channel and in a thread, also by an adapter that was not there', async () => {
    const ts = await simulator.say({ ...channel, text: 'question' });
    for (const to of [target(dm), target(channel), target(channel, { threadId: ts })]) {
      const sent = message(to, `to ${to.threadId ?? to.chatId}`);
      simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
      await failure(account.adapter.send(sent, never), 'unknown_outcome');
      const fresh = await openAccount(simulator);
      const { messageIds } = await fresh.adapter.send({ ...sent, mayBeShown: true }, never);
      const visible = simulator.visible(to.chatId).filter(({ text }) => text === sent.text);
      assert.deepEqual(visible.map(({ id }) => id), messageIds);
    }
  });

  it('is sent when it was not, however much was said since', async () => {
    const sent = message(target(dm), 'not yet');
    simulator.fail({ what: 'send', fault: { type: 'refuse' } });
    await failure(account.adapter.send(sent, never), 'unknown_outcome');
    for (let i = 0; i < 250; i += 1) await simulator.say({ ...dm, text: `noise ${i}` });
    await account.adapter.send({ ...sent, mayBeShown: true }, never);
    await account.adapter.send({ ...sent, mayBeShown: true }, never);
    assert.deepEqual(shown(), ['not yet']);
  });

  it('is looked for only then, and is not sent when nobody can look', async () => {
    await account.adapter.send(message(target(dm), 'plainly'), never);
    assert.equal(calls('conversations.history'), 0);
    simulator.refuseMethod('conversations.history', { error: 'missing_scope', more: { needed: 'im:history' } });
    await failure(account.adapter.send(message(target(dm), 'twice?', { mayBeShown: true }), never), 'rejected');
    assert.deepEqual(shown(), ['plainly']);
  });

  it('is known by its words to an app that may not read metadata', async () => {
    const sent = message(target(dm), 'once **only** & <@U0PERSON01>');
    simulator.withhold('metadata.message:read');
    simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await failure(account.adapter.send(sent, never), 'unknown_outcome');
    await account.adapter.send({ ...sent, mayBeShown: true }, never);
    assert.equal(shown().length, 1);
  });

  it('says nothing about itself to others who read the workspace', async () => {
    await account.adapter.send(message(target(dm), 'x', { key: 'turn:secret-session:final' }), never);
    const metadata = simulator.log.findLast(({ method }) => method === 'chat.postMessage')?.args['metadata'] ?? '';
    assert.match(metadata, /hermes_delivery/);
    assert.doesNotMatch(metadata, /secret-session/);
  });
});

describe('files', () => {
  let folder: string;
  let media: readonly OutboundMedia[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-slack-'));
    const files = [['photo', 'a.png', 'image/png'], ['document', 'b.txt', 'text/plain']] as const;
    media = files.map(([kind, name, mime]) => ({ kind, name, mime, path: join(folder, name) }));
    for (const { path, name } of media) await writeFile(path, `bytes of ${name}`);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const received = (): readonly (readonly string[])[] => simulator.visible(dm.chatId).map(({ media: files }) => files.map(({ bytes }) => Buffer.from(bytes).toString()));

  it('are shown in one message with the words above them', async () => {
    const { messageIds } = await account.adapter.send(message(target(dm), '**look**', { media }), never);
    assert.deepEqual(received(), [['bytes of a.png', 'bytes of b.txt']]);
    assert.deepEqual(simulator.visible(dm.chatId).map(({ id, text }) => [id, text]), [[messageIds[0], 'look']]);
    assert.deepEqual(await account.data.list('files:'), []);
  });

  it('come before words that have buttons', async () => {
    await account.adapter.send(message(target(dm), 'this one?', { media, choices: [[{ label: 'Yes', data: 'y' }]] }), never);
    assert.deepEqual(simulator.visible(dm.chatId).map(({ text, media: files, choices }) => [text, files.length, choices.length]), [['', 2, 0], ['this one?', 0, 1]]);
  });

  it('are not shown twice when the answer was lost', async () => {
    const sent = message(target(dm), 'look', { media });
    simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await failure(account.adapter.send(sent, never), 'unknown_outcome');
    const fresh = await openAccount(simulator, {}, account.data);
    await fresh.adapter.send({ ...sent, mayBeShown: true }, never);
    assert.deepEqual(shown(), ['look']);
    assert.equal(received().length, 1);
  });

  it('are not shown twice when the words behind them have to wait', async () => {
    const sent = message(target(dm), 'this one?', { media, choices: [[{ label: 'Yes', data: 'y' }]] });
    simulator.limitChannel(dm.chatId, 1000);
    await failure(account.adapter.send(sent, never), 'rate_limited');
    simulator.limitChannel(dm.chatId, undefined);
    const { messageIds } = await account.adapter.send(sent, never);
    assert.deepEqual(shown(), ['', 'this one?']);
    assert.deepEqual(simulator.visible(dm.chatId).map(({ id }) => id), messageIds);
  });

  it('that are not there or empty refuse the whole message', async () => {
    await writeFile(join(folder, 'a.png'), '');
    assert.deepEqual((await failure(account.adapter.send(message(target(dm), 'x', { media }), never), 'not_found')).facts, { missing: 'file', file: 'a.png' });
    await rm(join(folder, 'a.png'));
    await failure(account.adapter.send(message(target(dm), 'x', { media }), never), 'not_found');
    assert.deepEqual(shown(), []);
  });
});

describe('a slash command in a channel', () => {
  it('is answered to that person only, by its address five times and then by name', async () => {
    await using run = await runAccount(account.adapter);
    await account.adapter.menu?.publish([{ name: 'status', description: 'x' }], never);
    simulator.slash({ chatId: channel.chatId, senderId: 'U0PERSON01', command: '/hermes', text: 'status' });
    const { text, chat } = await eventually(() => run.inbox.events[0], 'the command arrived');
    assert.equal(text, '/status');
    const to = target(channel, { threadId: chat.threadId ?? '', scopeId: chat.scopeId ?? '' });
    for (let i = 0; i < 7; i += 1) await account.adapter.send(message(to, `answer **${i}**`), never);
    assert.deepEqual(simulator.whispered(channel.chatId).map(({ reader, text: words }) => `${reader}: ${words}`), Array.from({ length: 7 }, (_, i) => `U0PERSON01: answer ${i}`));
    assert.deepEqual([calls('reply'), calls('chat.postEphemeral'), calls('chat.postMessage')], [5, 2, 0]);
  });

  it('is neither previewed, nor answered twice', async () => {
    const to = target(channel, { threadId: 'slash:U0PERSON01' });
    await failure(account.adapter.send(message(to, 'grow', { growing: true }), never), 'unsupported');
    await failure(account.adapter.send(message(to, 'twice?', { mayBeShown: true }), never), 'rejected');
    assert.deepEqual(simulator.whispered(channel.chatId), []);
  });
});

describe('several workspaces', () => {
  const both = () => ({ bot_token: `${String(simulator.options['bot_token'])}, ${secondTeam.token}` });

  it('are one account, each with its own token', async () => {
    simulator.install(secondTeam);
    const { adapter } = await openAccount(simulator, both());
    await using run = await runAccount(adapter);
    simulator.sayIn(secondTeam.id, { ...dm, chatId: 'D0SECOND01', text: 'from beta' });
    const { chat } = await eventually(() => run.inbox.events[0], 'the message arrived');
    assert.equal(chat.scopeId, secondTeam.id);
    await adapter.send(message(target({ chatId: 'D0SECOND01', chatType: 'dm' }, { scopeId: secondTeam.id }), 'to beta'), never);
    await adapter.send(message(target(dm, { scopeId: 'T00FAKE00AA' }), 'to acme'), never);
    assert.deepEqual([shown('D0SECOND01'), shown()], [['to beta'], ['to acme']]);
    assert.equal((await adapter.identify(never)).name, 'hermes in Acme, Beta');
  });

  it('are searched for a channel that comes without one', async () => {
    simulator.install(secondTeam);
    simulator.sayIn(secondTeam.id, { ...channel, chatId: 'C0SECOND01', text: 'x' });
    const { adapter } = await openAccount(simulator, both());
    await adapter.send(message(target({ chatId: 'C0SECOND01', chatType: 'group' }), 'found'), never);
    assert.deepEqual(shown('C0SECOND01'), ['found']);
    await failure(adapter.send(message(target({ chatId: 'C0NOWHERE1', chatType: 'group' }), 'x'), never), 'chat_gone');
    await failure(adapter.send(message(target(dm, { scopeId: 'T9' }), 'x'), never), 'chat_gone');
  });

  it('list their channels under their names', async () => {
    simulator.install(secondTeam);
    simulator.sayIn(secondTeam.id, { ...channel, chatId: 'C0SECOND01', text: 'x' });
    const { adapter } = await openAccount(simulator, both());
    assert.deepEqual((await adapter.directory?.list(never))?.map(({ id, scopeName }) => [id, scopeName]), [['C0GENERAL1', 'Acme'], ['C0SECOND01', 'Beta']]);
  });
});

describe('signs', () => {
  it('are shown in threads where the app is an assistant', async () => {
    const { adapter } = await openAccount(simulator, { assistant: true });
    const ts = await simulator.say({ ...dm, text: 'x' });
    await adapter.typing?.show(target(dm, { threadId: ts }), never);
    await adapter.typing?.show(target(dm), never);
    assert.deepEqual(simulator.typing(), [dm.chatId]);
    assert.equal(account.adapter.typing, undefined);
  });

  it('replace one another as reactions, and know what Slack cannot name', async () => {
    const ts = await simulator.say({ ...dm, text: 'x' });
    const react = async (emoji: string | null): Promise<readonly string[]> => {
      await account.adapter.reactions?.set(target(dm), ts, emoji, never);
      return simulator.reactionsOn(dm.chatId, ts);
    };
    assert.deepEqual([await react('👀'), await react('👀'), await react('✅'), await react('❤'), await react(null)], [['eyes'], ['eyes'], ['white_check_mark'], ['heart'], []]);
    await failure(account.adapter.reactions?.set(target(dm), ts, '🦥', never) ?? Promise.resolve(), 'unsupported');
  });

  it('answer a press with words for whoever pressed', async () => {
    await using run = await runAccount(account.adapter);
    const { messageIds } = await account.adapter.send(message(target(channel), 'may I?', { choices: [[{ label: 'Yes', data: 'y' }]] }), never);
    await simulator.press(channel.chatId, messageIds[0] ?? '', 'y', 'U0PERSON01');
    const event = await eventually(() => run.inbox.events[0], 'the press arrived');
    await account.adapter.choices?.answer(event, undefined, never);
    await account.adapter.choices?.answer({ ...event, chat: { ...event.chat, threadId: messageIds[0] ?? '' } }, 'Only Ada may.', never);
    assert.deepEqual(simulator.whispered(channel.chatId), [{ reader: 'U0PERSON01', text: 'Only Ada may.' }]);
  });
});
