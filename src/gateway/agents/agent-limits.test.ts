import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { manualClock } from '../../lib/clock.ts';
import { localDay, nextDayMs } from '../../lib/local-day.ts';
import { platforms } from '../../platforms/registry.ts';
import { routingSections } from '../../routing/options.ts';
import { addSpend } from '../../store/agents/agent-spend.ts';
import { claimLane, enqueueLane, turnLane } from '../../store/lanes/lanes.ts';
import { insertInboxItem } from '../../store/messages/inbox.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { newAgentLimits } from './agent-limits.ts';

const agentsOf = (agents: Readonly<Record<string, unknown>>) => routingSections[0].schema.parse(agents);

const platform = (account: string) => platforms.find(({ name }) => name === account);

const speak = (store: Store, id: string, agent: string, at: { account?: string; chatId?: string } = {}): Promise<void> =>
  store.write(async (tx) => {
    const { account = 'telegram', chatId = id } = at;
    const lane = turnLane(id);
    await createSession(tx, { id, agent, account, chatType: 'dm' });
    await enqueueLane(tx, { lane, kind: 'turn' });
    await insertInboxItem(tx, { event: sampleEvent({ account, nativeId: id, chat: { id: chatId, type: 'dm' } }), class: 'chat', decisions: [], place: { lane, sessionId: id, sessionKey: `agent:${agent}:${account}:dm:${chatId}` } });
  });

const outbox = (store: Store) => store.read((db) => db.q.selectFrom('outbox').select(['key', 'chat_id']).orderBy('id').execute());

eachStore((_engine, open) => {
  test('an agent without limits never waits, and one with a limit when it has as much to do as it may', async () => {
    const { store, another } = await open();
    const agents = agentsOf({ a: { max_concurrent_turns: 2 }, b: {} });
    const limits = newAgentLimits({ clock: manualClock(), settings: () => ({ agents }), platform });
    for (const [id, agent] of [['s1', 'a'], ['s2', 'a'], ['s3', 'a'], ['s4', 'b']] as const) await speak(store, id, agent);
    const take = async (from: Store, id: string): Promise<boolean> =>
      from.write(async (tx) => (await limits.holdBack(tx, turnLane(id))) === undefined && (await claimLane(tx, { lane: turnLane(id), owner: 'o', leaseMs: 60_000 })) !== undefined);
    const other = await another();
    assert.deepEqual((await Promise.all([take(store, 's1'), take(other, 's2'), take(store, 's3')])).filter(Boolean).length, 2, 'in all processes together');
    assert.equal(await take(other, 's4'), true);
    assert.deepEqual((await store.read((db) => limits.ready(db, 10))).length, 0, 'those that have to wait are not looked at');
  });

  test('a conversation whose agent has limits is given back after a turn, and the one that has waited longest comes first', async () => {
    const { store, pass } = await open();
    const limits = newAgentLimits({ clock: manualClock(), settings: () => ({ agents: agentsOf({ a: { max_concurrent_turns: 1 } }) }), platform });
    for (const [id, agent] of [['s1', 'a'], ['s2', 'a'], ['s3', 'b']] as const) await speak(store, id, agent);
    await pass(2);
    const back = (id: string) =>
      store.write(async (tx) => {
        const claim = (await claimLane(tx, { lane: turnLane(id), owner: 'o', leaseMs: 60_000 })) ?? assert.fail();
        return limits.handBack(tx, claim);
      });
    assert.deepEqual(await back('s1'), { type: 'wait', ms: undefined });
    assert.equal(await back('s3'), undefined);
    assert.deepEqual((await store.read((db) => limits.ready(db, 10))).map(({ lane }) => lane), [turnLane('s2'), turnLane('s1')]);
  });

  test('who has spent what they may waits until midnight, with one notice in a chat and a day', async () => {
    const { store } = await open();
    const startMs = new Date(2026, 10, 15, 9, 30).getTime();
    const clock = manualClock(startMs);
    const limits = newAgentLimits({ clock, settings: () => ({ agents: agentsOf({ a: { daily_spend_usd: 1 } }) }), platform });
    await speak(store, 's1', 'a');
    await speak(store, 's2', 'a', { chatId: 's1' });
    await speak(store, 's3', 'a');
    await speak(store, 's4', 'a', { account: 'cron' });
    const held = (id: string) => store.write((tx) => limits.holdBack(tx, turnLane(id)));
    const spend = (usd: number | undefined) => store.write((tx) => addSpend(tx, { agent: 'a', day: localDay(clock.now()), usd }));
    await spend(0.99);
    await spend(undefined);
    assert.equal(await held('s1'), undefined, 'what has no price counts as nothing');
    await spend(0.01);
    const untilMidnight = { type: 'wait', ms: nextDayMs(startMs) - startMs };
    for (const id of ['s1', 's1', 's2', 's3']) assert.deepEqual(await held(id), untilMidnight, id);
    assert.deepEqual((await outbox(store)).map((row) => row.chat_id), ['s1', 's3']);
    assert.equal(await held('s4'), undefined, 'where nobody can be told, the turn begins and says why it ends');
    await clock.advance(untilMidnight.ms);
    assert.equal(await held('s1'), undefined, 'a new day');
    await spend(1);
    assert.notEqual(await held('s1'), undefined);
    assert.equal((await outbox(store)).length, 3);
  });
});
