import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openAccount, runAccount, toChat } from '../../../test/support/telegram-account.ts';
import type { TestAccount } from '../../../test/support/test-account.ts';
import { testInbox } from '../../../test/support/test-inbox.ts';
import { until } from '../../../test/support/until.ts';
import { failure, never } from '../conformance-bench.ts';
import type { ChatMove } from '../contract.ts';
import { startTelegramSimulator } from './simulator.ts';
import type { TelegramSimulator } from './simulator.ts';

const forum = toChat('-100');

let simulator: TelegramSimulator;
let account: TestAccount;

beforeEach(async () => {
  simulator = await startTelegramSimulator();
  simulator.makeForum('-100');
  account = await openAccount(simulator);
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const names = () => account.adapter.names ?? assert.fail('topics cannot be named');
const openTopic = async (name = 'Conversation') => (await account.adapter.threads?.open(forum, name, never)) ?? assert.fail('no topic');
const renames = (): number => simulator.log.filter(({ method }) => method === 'editForumTopic').length;

describe('topics that we have opened', () => {
  it('are called like their conversation, also after a restart, and not twice', async () => {
    const topic = await openTopic();
    account = await openAccount(simulator, {}, account.data);
    await names().set(topic, `  ${'Trip to Rome '.repeat(20)}`, never);
    assert.equal(simulator.threadName?.(topic), 'Trip to Rome '.repeat(20).slice(0, 128));
    await names().set(topic, 'Trip to Rome', never);
    await names().set(topic, 'Trip to Rome', never);
    assert.deepEqual([simulator.threadName?.(topic), renames()], ['Trip to Rome', 2]);
  });

  it('may be named again after an answer was lost, and say when there are too many names', async () => {
    const topic = await openTopic();
    simulator.fail({ what: 'edit', fault: { type: 'drop_answer' } });
    await failure(names().set(topic, 'Rome', never), 'unavailable');
    await names().set(topic, 'Rome', never);
    simulator.fail({ what: 'edit', fault: { type: 'rate_limit', retryAfterMs: 3000 } });
    assert.equal((await failure(names().set(topic, 'Paris', never), 'rate_limited')).facts.retryAfterMs, 3000);
    assert.equal(simulator.threadName?.(topic), 'Rome');
  });

  it('keep the name that a person gives them', async () => {
    const topic = await openTopic();
    const { stop } = await runAccount(account.adapter);
    simulator.deliver({ message: { message_id: 900, date: 1, chat: { id: -100, type: 'supergroup', title: 'Team', is_forum: true }, from: { id: 7, is_bot: false, first_name: 'Ann' }, message_thread_id: Number(topic.threadId), is_topic_message: true, forum_topic_edited: { name: 'Mine' } } });
    await until(() => simulator.pending() === 0);
    await names().set(topic, 'Trip to Rome', never);
    assert.equal(renames(), 0);
    await stop();
  });

  it('are no others: those of people, and chats without topics, keep their names', async () => {
    await simulator.say({ chatId: '-100', chatType: 'group', senderId: '7', text: 'x', threadId: '9' });
    await names().set({ ...forum, threadId: '9' }, 'Trip to Rome', never);
    await names().set(forum, 'Trip to Rome', never);
    await names().set(toChat('7'), 'Trip to Rome', never);
    assert.equal(renames(), 0);
  });
});

it('a group that became a supergroup is the same chat under another id, before anything that is said there', async () => {
  const order: (ChatMove | string)[] = [];
  const moved = async (move: ChatMove): Promise<void> => {
    await nextTurn();
    order.push(move);
  };
  const inbox = { ...testInbox(), moved, accept: async ({ text }: { readonly text: string }) => (order.push(text), 'stored' as const) };
  simulator.deliver({ message: { message_id: 1, date: 1, chat: { id: -5, type: 'group', title: 'Team' }, from: { id: 7, is_bot: false, first_name: 'Ann' }, migrate_to_chat_id: -1005 } });
  await simulator.say({ chatId: '-1005', chatType: 'group', senderId: '7', text: 'hello' });
  const { stop } = await runAccount(account.adapter, inbox);
  await until(() => order.length === 2);
  assert.deepEqual(order, [{ from: '-5', to: '-1005' }, 'hello']);
  await stop();
});
