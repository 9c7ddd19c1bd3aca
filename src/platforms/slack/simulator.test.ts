import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { SocketModeClient } from '@slack/socket-mode';
import { LogLevel, WebClient } from '@slack/web-api';
import type { ChatPostMessageArguments } from '@slack/web-api';
import { eventually } from '../conformance-bench.ts';
import { startSlackSimulator } from './simulator.ts';
import type { SlackSimulator } from './simulator.ts';

let simulator: SlackSimulator;
let web: WebClient;

const said = { chatId: 'C0GENERAL1', chatType: 'group' as const, senderId: 'U0PERSON01', text: 'hello' };
const quiet = { logLevel: LogLevel.ERROR, retryConfig: { retries: 0 } };

beforeEach(async () => {
  simulator = await startSlackSimulator();
  web = new WebClient(String(simulator.options['bot_token']), { slackApiUrl: simulator.baseUrl, rejectRateLimitedCalls: true, ...quiet });
});
afterEach(() => simulator[Symbol.asyncDispose]());

const post = (message: ChatPostMessageArguments) => web.chat['postMessage'](message);

const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('it was not refused'),
    (error: { data?: { error?: string } }) => error.data?.error,
  );

describe("Slack's own web client", () => {
  it('finds out who it is, and is refused with a wrong token', async () => {
    const { team_id: team, user_id: user, bot_id: bot } = await web.auth.test();
    assert.deepEqual([team, user, bot], ['T00FAKE00AA', 'U00FAKEBOT01', 'B00FAKEBOT01']);
    assert.equal(await refusalOf(new WebClient('xoxb-wrong', { slackApiUrl: simulator.baseUrl, ...quiet }).auth.test()), 'invalid_auth');
  });

  it('posts, changes, reads and removes a message, with blocks and metadata', async () => {
    const metadata = { event_type: 'thing', event_payload: { key: '1' } };
    const sent = await post({ channel: said.chatId, text: '*bold*', metadata });
    assert.equal(simulator.visible(said.chatId)[0]?.text, 'bold');
    const button = { type: 'button' as const, action_id: 'a', value: 'v', text: { type: 'plain_text' as const, text: 'Yes' } };
    await web.chat.update({ channel: said.chatId, ts: sent.ts ?? '', text: 'two', blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'two' } }, { type: 'actions', elements: [button] }] });
    assert.deepEqual(simulator.visible(said.chatId).map(({ text, choices }) => [text, choices]), [['two', [{ label: 'Yes', data: 'v' }]]]);
    const { messages } = await web.conversations.history({ channel: said.chatId, include_all_metadata: true });
    assert.deepEqual(messages?.map((message) => [message.ts, message.metadata]), [[sent.ts, metadata]]);
    await web.chat.delete({ channel: said.chatId, ts: sent.ts ?? '' });
    assert.deepEqual(simulator.visible(said.chatId), []);
    assert.equal(await refusalOf(web.chat.update({ channel: said.chatId, ts: sent.ts ?? '', text: 'x' })), 'message_not_found');
    assert.deepEqual(simulator.violations(), []);
  });

  it('uploads files in its own way, and reads them back', async () => {
    const bytes = Buffer.from('notes\n');
    const result = await web.filesUploadV2({ channel_id: said.chatId, initial_comment: 'look', file: bytes, filename: 'notes.txt' });
    assert.ok(result.ok);
    const [shown] = simulator.visible(said.chatId);
    assert.deepEqual([shown?.text, shown?.media.map(({ name }) => name)], ['look', ['notes.txt']]);
    const completed = simulator.log.find(({ method }) => method === 'files.completeUploadExternal')?.args['files'] ?? '[]';
    const { file } = await web.files.info({ file: (JSON.parse(completed) as { id: string }[])[0]?.id ?? '' });
    const download = await fetch(file?.url_private_download ?? '', { headers: { authorization: `Bearer ${String(simulator.options['bot_token'])}` } });
    assert.ok(Buffer.from(await download.arrayBuffer()).equals(bytes));
    assert.deepEqual(simulator.violations(), []);
  });

  it('reads threads, people, channels and reactions', async () => {
    const ts = await simulator.say(said);
    await post({ channel: said.chatId, thread_ts: ts, text: 'below' });
    const { messages } = await web.conversations.replies({ channel: said.chatId, ts });
    assert.deepEqual(messages?.map(({ text, thread_ts: thread }) => [text, thread]), [['hello', ts], ['below', ts]]);
    await web.reactions.add({ channel: said.chatId, timestamp: ts, name: 'eyes' });
    const reactions = await web.reactions.get({ channel: said.chatId, timestamp: ts, full: true });
    assert.deepEqual((reactions as { message?: { reactions?: { name?: string }[] } }).message?.reactions?.map(({ name }) => name), ['eyes']);
    assert.equal((await web.users.info({ user: said.senderId })).user?.profile?.display_name, 'Ada');
    const listed: unknown[] = [];
    for (const name of ['C0A1111', 'C0B1111', 'C0C1111']) await simulator.say({ ...said, chatId: name });
    for await (const page of web.paginate('users.conversations', { types: 'public_channel', limit: 2 })) listed.push(...((page as { channels?: unknown[] }).channels ?? []));
    assert.equal(listed.length, 4);
    assert.deepEqual(simulator.violations(), []);
  });

  it('understands a limit', async () => {
    simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 3000 } });
    await assert.rejects(post({ channel: said.chatId, text: 'x' }), (error: { retryAfter?: number }) => error.retryAfter === 3);
  });
});

describe("Slack's own socket client", () => {
  const connect = async (): Promise<SocketModeClient> => {
    const client = new SocketModeClient({ appToken: String(simulator.options['app_token']), logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl: simulator.baseUrl, ...quiet } });
    await client.start();
    return client;
  };

  it('hears what people say, press and type, and its acknowledgements arrive', async () => {
    const client = await connect();
    const heard: string[] = [];
    const hear = (name: string) => async ({ ack, body, event }: { ack: () => Promise<void>; body: { command?: string; type?: string }; event?: { text?: string } }) => {
      heard.push(`${name}: ${event?.text ?? body.command ?? body.type}`);
      await ack();
    };
    client.on('message', hear('message'));
    client.on('slash_commands', hear('slash'));
    client.on('interactive', hear('interactive'));
    await simulator.say(said);
    simulator.slash({ chatId: said.chatId, senderId: said.senderId, command: '/hermes', text: 'status' });
    const blocks = [{ type: 'actions' as const, elements: [{ type: 'button' as const, action_id: 'a', value: 'v', text: { type: 'plain_text' as const, text: 'Yes' } }] }];
    const { ts } = await post({ channel: said.chatId, text: 'x', blocks });
    await simulator.press(said.chatId, ts ?? '', 'v', said.senderId);
    await eventually(() => simulator.acknowledged() === 3, 'everything is acknowledged');
    assert.deepEqual(heard, ['message: hello', 'slash: /hermes', 'interactive: block_actions']);
    await client.disconnect();
  });

  it('reconnects when it is told that its socket ends', async () => {
    const client = new SocketModeClient({ appToken: String(simulator.options['app_token']), clientPingTimeout: 500, logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl: simulator.baseUrl, ...quiet } });
    await client.start();
    const again = once(client as never, 'connected');
    simulator.sockets.announceEnd('refresh_requested');
    await again;
    assert.equal(simulator.sockets.opened, 2);
    await client.disconnect();
  });
});

describe('the simulator', () => {
  it('refuses and remembers calls that Slack does not know', async () => {
    assert.equal(await refusalOf(web.apiCall('chat.telepathy')), 'unknown_method');
    assert.equal(await refusalOf(web.apiCall('chat.postMessage', { text: 'x' })), 'invalid_arguments');
    assert.equal(await refusalOf(web.apiCall('chat.delete', { channel: 'C', ts: '1.1', gently: true })), 'invalid_arguments');
    assert.deepEqual(simulator.violations(), ['chat.telepathy does not exist or is not simulated', 'chat.postMessage.channel is missing', 'chat.delete.gently does not exist']);
  });

  for (const [what, args, error] of [
    ['an empty message', { text: '' }, 'no_text'],
    ['a text that is too long', { text: 'x'.repeat(40_001) }, 'msg_too_long'],
    ['a section that is too long', { text: 'x', blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(3001) } }] }, 'invalid_blocks'],
    ['two buttons of one name', { text: 'x', blocks: [{ type: 'actions', elements: [{ type: 'button', action_id: 'a', text: { type: 'plain_text', text: 'x' } }, { type: 'button', action_id: 'a', text: { type: 'plain_text', text: 'x' } }] }] }, 'invalid_blocks'],
    ['a thread that does not exist', { text: 'x', thread_ts: '1.000001' }, 'thread_not_found'],
  ] as const) {
    it(`refuses ${what} in Slack's words`, async () => {
      assert.equal(await refusalOf(web.apiCall('chat.postMessage', { channel: said.chatId, ...args })), error);
    });
  }

  it('lets nobody read a file without the token of its workspace', async () => {
    const { file_id: id = '', upload_url: url = '' } = await web.files.getUploadURLExternal({ filename: 'a.txt', length: 1 });
    await fetch(url, { method: 'POST', body: 'a' });
    const { file } = await web.files.info({ file: id });
    const response = await fetch(file?.url_private ?? '', { redirect: 'manual' });
    assert.equal(response.status, 302);
  });
});
