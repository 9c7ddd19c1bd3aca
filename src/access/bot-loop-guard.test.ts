import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import type { Store } from '../store/store.ts';
import { botLoopGuardSection, foreseeBot, hearBot, judgeBot } from './bot-loop-guard.ts';

const guard = botLoopGuardSection.schema.parse(undefined);
const small = { ...guard, max_messages: 3 };
const bot = { id: '55', isBot: true } as const;
const fromBot = (chatId = 'c1', account = 'telegram') => sampleEvent({ account, chat: { id: chatId, type: 'group' }, sender: bot });

const hear = async (store: Store, event = fromBot(), rules = small): Promise<boolean | undefined> => (await store.write((tx) => hearBot(tx, event, rules)))?.heard;

test('twenty messages within five minutes are heard, then there is silence for ten', () => {
  assert.deepEqual([guard.enabled, guard.max_messages, guard.window_seconds, guard.silence_seconds], [true, 20, 300, 600]);
  assert.deepEqual(judgeBot(guard, { count: 0, leftMs: 0 }).keep, { count: 1, forMs: 300_000 });
  assert.deepEqual(judgeBot(guard, { count: 18, leftMs: 4000 }).keep, { count: 19, forMs: 4000 });
  assert.deepEqual(judgeBot(guard, { count: 19, leftMs: 4000 }).keep, { count: 20, forMs: 600_000 });
  const silent = judgeBot(guard, { count: 20, leftMs: 1500 });
  assert.deepEqual([silent.heard, silent.keep, silent.decision.verdict], [false, undefined, 'silent for another 2 s, after 20 messages of bots']);
});

test('a window or a silence that is over is forgotten', () => {
  for (const count of [5, 19, 20]) assert.deepEqual(judgeBot(guard, { count, leftMs: 0 }).keep, { count: 1, forMs: 300_000 }, String(count));
});

test('the setting may be a mere yes or no', () => {
  assert.equal(botLoopGuardSection.schema.parse({ enabled: false }).enabled, false);
});

eachStore((engine, open) => {
  test('bots are counted per chat and account, people never', async () => {
    const { store } = await open();
    assert.deepEqual([await hear(store), await hear(store), await hear(store), await hear(store)], [true, true, true, false]);
    assert.equal(await hear(store, fromBot('c2')), true);
    assert.equal(await hear(store, fromBot('c1', 'telegram@work')), true);
    assert.equal(await hear(store, sampleEvent({ chat: { id: 'c1', type: 'group' } })), undefined);
    assert.equal(await hear(store, fromBot(), { ...small, enabled: false }), undefined);
  });

  test('the silence holds for another process, is foreseen without being counted, and ends', { skip: engine === 'postgres' && 'its clock cannot be moved' }, async () => {
    const { store, another, pass } = await open();
    for (let i = 0; i < 3; i += 1) await hear(store);
    const second = await another();
    await pass(599_000);
    assert.equal(await hear(second), false);
    assert.match((await second.read((db) => foreseeBot(db, fromBot(), small)))?.decision.verdict ?? '', /silent for another 1 s/);
    await pass(1_000);
    for (let i = 0; i < 5; i += 1) assert.equal((await second.read((db) => foreseeBot(db, fromBot(), small)))?.decision.verdict, 'heard, 1 of 3');
    assert.equal(await hear(second), true);
  });

  test('many messages at once are each counted', async () => {
    const { store } = await open();
    const heard = await Promise.all(Array.from({ length: 8 }, () => hear(store)));
    assert.equal(heard.filter((was) => was === true).length, 3);
  });
});
