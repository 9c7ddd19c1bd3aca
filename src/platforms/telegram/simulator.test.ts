import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Bot } from 'grammy';
import { until } from '../../../test/support/until.ts';
import { startTelegramSimulator } from './simulator.ts';
import type { TelegramSimulator } from './simulator.ts';

let simulator: TelegramSimulator;

beforeEach(async () => {
  simulator = await startTelegramSimulator();
});
afterEach(() => simulator[Symbol.asyncDispose]());

interface Answer {
  readonly ok: boolean;
  readonly result?: unknown;
  readonly error_code?: number;
  readonly description?: string;
}

const call = async (method: string, params: object = {}): Promise<Answer> => {
  const response = await fetch(`${simulator.baseUrl}/bot${simulator.token}/${method}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(params) });
  return (await response.json()) as Answer;
};

const said = { chatId: '7', chatType: 'dm' as const, senderId: '7', text: 'hello' };

describe('the simulator', () => {
  it('serves a bot of grammY, which knows nothing of us', async () => {
    const bot = new Bot(simulator.token, { client: { apiRoot: simulator.baseUrl } });
    bot.on('message:text', (context) => context.reply(`echo: ${context.message.text}`));
    bot.on('message:photo', (context) => context.reply(`photo: ${context.message.photo.length}`));
    const running = bot.start({ timeout: 5 });
    await simulator.say(said);
    await simulator.say({ ...said, text: 'cap', media: { kind: 'photo', bytes: new Uint8Array([1]), name: 'a.jpg', mime: 'image/jpeg' } });
    await until(() => simulator.visible('7').length === 2);
    assert.deepEqual(simulator.visible('7').map(({ text }) => text), ['echo: hello', 'photo: 1']);
    await bot.stop();
    await running;
    assert.deepEqual(simulator.violations(), []);
  });

  it('keeps updates until a later offset confirms them', async () => {
    await simulator.say(said);
    await simulator.say({ ...said, text: 'two' });
    const first = (await call('getUpdates')).result as { update_id: number }[];
    assert.equal(first.length, 2);
    assert.equal(((await call('getUpdates')).result as unknown[]).length, 2);
    assert.equal(simulator.acknowledged(), 0);
    const rest = (await call('getUpdates', { offset: first[1]?.update_id })).result as unknown[];
    assert.deepEqual(rest, [first[1]]);
    assert.equal(simulator.acknowledged(), 1);
  });

  it('ends an older poll when a second one comes', async () => {
    const older = call('getUpdates', { timeout: 30 });
    await until(() => simulator.log.length === 1);
    const newer = call('getUpdates', { timeout: 30 });
    assert.deepEqual(await older.then(({ error_code }) => error_code), 409);
    await simulator.say(said);
    assert.equal(((await newer).result as unknown[]).length, 1);
  });

  for (const [what, method, params, violation] of [
    ['a method that does not exist', 'sendTelepathy', {}, 'sendTelepathy does not exist or is not simulated'],
    ['a field that does not exist', 'sendMessage', { chat_id: 1, text: 'x', loud: true }, 'sendMessage.loud does not exist'],
    ['a missing field', 'sendMessage', { chat_id: 1 }, 'sendMessage.text is missing'],
    ['a wrong type', 'sendMessage', { chat_id: 1, text: 5 }, 'sendMessage.text is not String'],
    ['a mistake deep inside', 'sendMessage', { chat_id: 1, text: 'x', reply_parameters: { message_id: 'x' } }, 'sendMessage.reply_parameters.message_id is not Integer'],
  ] as const) {
    it(`refuses ${what} and remembers it`, async () => {
      assert.equal((await call(method, params)).ok, false);
      assert.deepEqual(simulator.violations(), [violation]);
    });
  }

  for (const [what, method, params, description] of [
    ['unescaped markup', 'sendMessage', { text: 'a.b', parse_mode: 'MarkdownV2' }, "Bad Request: can't parse entities: Character '.' is reserved and must be escaped with the preceding '\\'"],
    ['a text that is too long', 'sendMessage', { text: '😀'.repeat(2049) }, 'Bad Request: message is too long'],
    ['a text without words', 'sendMessage', { text: '**', parse_mode: 'MarkdownV2' }, 'Bad Request: message text is empty'],
    ['a topic that does not exist', 'sendMessage', { text: 'x', message_thread_id: 4 }, 'Bad Request: message thread not found'],
    ['the General topic by number', 'sendMessage', { text: 'x', message_thread_id: 1 }, 'Bad Request: message thread not found'],
    ['a reply to nothing', 'sendMessage', { text: 'x', reply_parameters: { message_id: 4 } }, 'Bad Request: message to be replied not found'],
    ['button data of 65 bytes', 'sendMessage', { text: 'x', reply_markup: { inline_keyboard: [[{ text: 'b', callback_data: 'x'.repeat(65) }]] } }, 'Bad Request: BUTTON_DATA_INVALID'],
    ['an edit of nothing', 'editMessageText', { message_id: 4, text: 'x' }, 'Bad Request: message to edit not found'],
    ['an emoji that is no reaction', 'setMessageReaction', { message_id: 101, reaction: [{ type: 'emoji', emoji: '🦥' }] }, 'Bad Request: REACTION_INVALID'],
    ['a topic in a chat without topics', 'createForumTopic', { name: 'x' }, 'Bad Request: the chat is not a forum'],
  ] as const) {
    it(`refuses ${what} in Telegram's words`, async () => {
      await simulator.say({ ...said, chatId: '-5', chatType: 'group' });
      assert.equal((await call(method, { chat_id: -5, ...params })).description, description);
    });
  }

  it('takes calls as forms too', async () => {
    const form = new URLSearchParams({ chat_id: '7', text: 'x', reply_markup: JSON.stringify({ inline_keyboard: [[{ text: 'b', callback_data: 'd' }]] }) });
    const response = await fetch(`${simulator.baseUrl}/bot${simulator.token}/sendMessage`, { method: 'POST', body: form });
    assert.equal(response.status, 200);
    assert.deepEqual(simulator.visible('7')[0]?.choices, [{ label: 'b', data: 'd' }]);
    assert.deepEqual(simulator.violations(), []);
  });

  it('knows only its own token', async () => {
    const status = async (token: string) => (await fetch(`${simulator.baseUrl}/bot${token}/getMe`)).status;
    assert.deepEqual([await status(simulator.token), await status('1:wrong'), await status('nonsense')], [200, 401, 404]);
  });

  it('uses a planned fault up', async () => {
    simulator.fail({ what: 'identify', fault: { type: 'status', status: 500 }, count: 2 });
    const codes = [await call('getMe'), await call('getMe'), await call('getMe')].map(({ error_code }) => error_code);
    assert.deepEqual(codes, [500, 500, undefined]);
  });
});
