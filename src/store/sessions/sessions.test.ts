import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addUsage, noUsage } from '../../core/transcript.ts';
import type { Usage } from '../../core/transcript.ts';
import { sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import {
  bindingsOf,
  bindSession,
  boundSession,
  changeSettings,
  createSession,
  endSession,
  findSession,
  listSessions,
  lockSessionKey,
  reopenSession,
  resolveSessions,
  setTitle,
} from './sessions.ts';
import type { NewSession, Session } from './sessions.ts';
import type { Store } from '../store.ts';
import { addTurnTotals } from './turn-totals.ts';

const key = 'agent:main:telegram:dm:1';

const create = (store: Store, id: string, facts: Partial<NewSession> = {}): Promise<void> =>
  store.write((tx) => createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm', ...facts }));

const find = async (store: Store, id: string): Promise<Session> => {
  const session = await store.read((db) => findSession(db, id));
  assert.ok(session !== undefined);
  return session;
};

eachStore((engine, open) => {
  test('a new conversation starts empty', async () => {
    const { store } = await open();
    await create(store, 's1', { userId: 'u', parentId: 's0', title: 'Trip' });
    const session = await find(store, 's1');
    assert.deepEqual(
      { ...session, createdAtMs: 0, activeAtMs: 0 },
      { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm', userId: 'u', title: 'Trip', createdAtMs: 0, activeAtMs: 0, endedAtMs: null, endReason: null, parentId: 's0', model: null, settings: {}, messageCount: 0, turnCount: 0, usage: noUsage },
    );
    assert.equal(await store.read((db) => findSession(db, 's2')), undefined);
  });

  test('a place continues the conversation it was pointed at last', async () => {
    const { store } = await open();
    await create(store, 's1');
    await create(store, 's2');
    assert.equal(await store.read((db) => boundSession(db, key)), undefined);
    const target = sampleTarget({ threadId: 't', replyTo: '5' });
    await store.write((tx) => bindSession(tx, { sessionKey: key, sessionId: 's1', target: sampleTarget() }));
    await store.write((tx) => bindSession(tx, { sessionKey: 'elsewhere', sessionId: 's2', target: sampleTarget({ chatId: '2' }) }));
    await store.write((tx) => bindSession(tx, { sessionKey: key, sessionId: 's2', target }));
    const bound = await store.read((db) => boundSession(db, key));
    assert.deepEqual([bound?.sessionId, bound?.target, bound?.endReason], ['s2', target, null]);
    assert.ok(bound !== undefined && bound.nowMs >= bound.activeAtMs);
    assert.deepEqual((await store.read((db) => bindingsOf(db, 's2'))).map((binding) => binding.sessionKey).toSorted(), [key, 'elsewhere']);
    assert.deepEqual(await store.read((db) => bindingsOf(db, 's1')), []);
  });

  test('processes that open the conversation of a place at the same moment agree on one', async () => {
    const { store, another } = await open();
    const stores = [store, await another(), await another()];
    const seat = (one: Store, id: string): Promise<string> =>
      one.write(async (tx) => {
        await lockSessionKey(tx, key);
        const bound = await boundSession(tx, key);
        if (bound !== undefined) return bound.sessionId;
        await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm' });
        await bindSession(tx, { sessionKey: key, sessionId: id, target: sampleTarget() });
        return id;
      });
    const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => seat(stores[i % 3] ?? store, `s${i}`)));
    assert.equal(new Set(ids).size, 1);
    assert.equal((await store.read((db) => listSessions(db, { limit: 100 }))).length, 1);
  });

  test('a conversation ends once and can be opened again', async () => {
    const { store, pass } = await open();
    await create(store, 's1');
    await store.write((tx) => bindSession(tx, { sessionKey: key, sessionId: 's1', target: sampleTarget() }));
    await store.write((tx) => endSession(tx, 's1', 'new'));
    const first = await find(store, 's1');
    await pass(3);
    await store.write((tx) => endSession(tx, 's1', 'idle'));
    assert.deepEqual(await find(store, 's1'), first);
    assert.equal(first.endReason, 'new');
    assert.equal((await store.read((db) => boundSession(db, key)))?.endReason, 'new');
    await store.write((tx) => reopenSession(tx, 's1'));
    const again = await find(store, 's1');
    assert.deepEqual([again.endedAtMs, again.endReason], [null, null]);
    assert.ok(again.activeAtMs > first.activeAtMs);
  });

  test('a title belongs to one conversation, whoever asks for it at the same moment', async () => {
    const { store, another } = await open();
    const stores = [store, await another()];
    for (const id of ['s1', 's2', 's3', 's4']) await create(store, id);
    const got = await Promise.all(['s1', 's2', 's3', 's4'].map((id, i) => (stores[i % 2] ?? store).write((tx) => setTitle(tx, id, 'Trip'))));
    assert.equal(got.filter(Boolean).length, 1);
    const owner = ['s1', 's2', 's3', 's4'][got.indexOf(true)] ?? '';
    assert.equal(await store.write((tx) => setTitle(tx, owner, 'Trip')), true);
    await assert.rejects(create(store, 's5', { title: 'Trip' }), { name: 'StoreError', code: 'failed' });
    assert.equal(await store.read((db) => findSession(db, 's5')), undefined);
  });

  test('a title that another transaction is just taking counts as taken', { skip: engine === 'sqlite' && 'one transaction at a time' }, async () => {
    const { store } = await open();
    for (const id of ['s1', 's2']) await create(store, id);
    const taken = Promise.withResolvers<void>();
    const first = store.write(async (tx) => {
      await setTitle(tx, 's1', 'Trip');
      taken.resolve();
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    await taken.promise;
    assert.equal(await store.write((tx) => setTitle(tx, 's2', 'Trip')), false);
    await first;
  });

  test('tokens and turns add up, and the last model is remembered', async () => {
    const { store } = await open();
    await create(store, 's1');
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 2, reasoningTokens: 1 };
    await store.write((tx) => addTurnTotals(tx, 's1', { usage, model: 'm1' }));
    await store.write((tx) => addTurnTotals(tx, 's1', { usage, model: null }));
    const session = await find(store, 's1');
    assert.deepEqual(session.usage, { inputTokens: 20, outputTokens: 10, cacheReadTokens: 6, cacheWriteTokens: 4, reasoningTokens: 2 });
    assert.deepEqual([session.turnCount, session.model], [2, 'm1']);
  });

  test('what turns cost adds up, and is as certain as its least certain part', async () => {
    const { store } = await open();
    const spent = (usd: number | undefined, status: 'actual' | 'estimated' = 'actual', tokens = 10): Usage => ({ ...noUsage, inputTokens: tokens, ...(usd !== undefined && { cost: { usd, status } }) });
    const histories: readonly (readonly Usage[])[] = [
      [spent(0.25), spent(0.5)],
      [spent(0.25), spent(0.5, 'estimated')],
      [spent(undefined), spent(0.5)],
      [spent(0.5), spent(undefined)],
      [spent(undefined), spent(undefined)],
      [spent(0.5), noUsage, spent(0.25)],
      [noUsage, spent(0.5)],
      [spent(0.5, 'actual', 0), spent(0.25, 'actual', 0)],
    ];
    for (const [i, history] of histories.entries()) {
      await create(store, `s${i}`);
      for (const usage of history) await store.write((tx) => addTurnTotals(tx, `s${i}`, { usage, model: null }));
      assert.deepEqual((await find(store, `s${i}`)).usage.cost, history.reduce(addUsage, noUsage).cost, String(i));
    }
    assert.deepEqual((await find(store, 's0')).usage.cost, { usd: 0.75, status: 'actual' });
  });

  test('totals beyond 32 bits stay numbers', async () => {
    const { store } = await open();
    await create(store, 's1');
    await store.write((tx) => addTurnTotals(tx, 's1', { usage: { ...noUsage, inputTokens: 5_000_000_000 }, model: null }));
    assert.equal((await find(store, 's1')).usage.inputTokens, 5_000_000_000);
  });

  test('settings are replaced as a whole', async () => {
    const { store } = await open();
    await create(store, 's1');
    await store.write((tx) => changeSettings(tx, 's1', { busyMode: 'queue', model: 'm' }));
    await store.write((tx) => changeSettings(tx, 's1', { busyMode: 'steer' }));
    assert.deepEqual((await find(store, 's1')).settings, { busyMode: 'steer' });
  });

  test('conversations are listed most recently used first, and narrowed down', async () => {
    const { store, pass } = await open();
    const sessions = [
      ['s1', { userId: 'u1' }],
      ['s2', { account: 'slack' }],
      ['s3', { agent: 'other', userId: 'u1' }],
    ] as const;
    for (const [id, facts] of sessions) {
      await create(store, id, facts);
      await pass(3);
    }
    await store.write((tx) => reopenSession(tx, 's1'));
    const ids = async (filter: Parameters<typeof listSessions>[1]): Promise<string[]> => (await store.read((db) => listSessions(db, filter))).map((session) => session.id);
    assert.deepEqual(await ids({ limit: 10 }), ['s1', 's3', 's2']);
    assert.deepEqual(await ids({ limit: 2 }), ['s1', 's3']);
    assert.deepEqual(await ids({ limit: 10, account: 'slack' }), ['s2']);
    assert.deepEqual(await ids({ limit: 10, agent: 'main', userId: 'u1' }), ['s1']);
  });

  test('a conversation is found by id, start of id, or exact title', async () => {
    const { store } = await open();
    await create(store, '20260101_100000_aa', { title: 'Trip to 東京' });
    await create(store, '20260101_110000_bb', { title: '20260101_100000' });
    await create(store, '20260102_100000_cc');
    const ids = async (name: string): Promise<string[]> => (await store.read((db) => resolveSessions(db, name))).map((session) => session.id).toSorted();
    assert.deepEqual(await ids('20260102_100000_cc'), ['20260102_100000_cc']);
    assert.deepEqual(await ids('20260102'), ['20260102_100000_cc']);
    assert.deepEqual(await ids('202601'), ['20260101_100000_aa', '20260101_110000_bb', '20260102_100000_cc']);
    assert.deepEqual(await ids('Trip to 東京'), ['20260101_100000_aa']);
    assert.deepEqual(await ids('20260101_100000'), ['20260101_110000_bb']);
    for (const nothing of ['', '%', '2026010_', 'Trip']) assert.deepEqual(await ids(nothing), []);
  });
});
