import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { capturingLogger } from '../lib/logger.ts';
import { resetSection } from '../sessions/reset-policy.ts';
import { keepProcess, processEnded } from '../store/agents/processes.ts';
import { claimLane, enqueueLane, turnLane } from '../store/lanes/lanes.ts';
import { takeSessionEnd } from '../store/sessions/session-ends.ts';
import { bindSession, boundSession, createSession, findSession } from '../store/sessions/sessions.ts';
import { databaseNow } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { expireSessions } from './expire-sessions.ts';

const minuteMs = 60_000;

interface Place {
  readonly account?: string;
  readonly chatType?: 'dm' | 'group';
  /** Since somebody spoke there. */
  readonly silentMs: number;
}

const add = (store: Store, id: string, { account = 'telegram', chatType = 'dm', silentMs }: Place): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id, agent: 'main', account, chatType, userId: '7' });
    await bindSession(tx, { sessionKey: `key:${id}`, sessionId: id, target: { account, chatId: id, chatType } });
    await tx.q.updateTable('sessions').set({ active_at: (await databaseNow(tx)) - silentMs }).where('id', '=', id).execute();
  });

const newLook = (store: Store, section: object) => {
  const { log, lines } = capturingLogger();
  const told: [string, unknown][] = [];
  const settings = resetSection.parse(section);
  const hooks = { emit: (name: string, context: object) => void told.push([name, context]) };
  return { told, lines, look: () => expireSessions({ store, log, hooks, settings: () => settings, signal: new AbortController().signal }) };
};

const endOf = async (store: Store, id: string): Promise<string | null | undefined> => (await store.read((db) => findSession(db, id)))?.endReason;

const idle = { session_reset: { mode: 'idle', idle_minutes: 60 } };

eachStore((_engine, open) => {
  test('a conversation whose time is over ends once, with its place still bound, and everybody who looks after ends finds it', async () => {
    const { store, another } = await open();
    await add(store, 'old', { silentMs: 61 * minuteMs });
    await add(store, 'new', { silentMs: 30 * minuteMs });
    const nodes = [newLook(store, idle), newLook(await another(), idle)];
    const counts = await Promise.all(nodes.map(({ look }) => look()));
    assert.equal(counts.reduce((a, b) => a + b), 1);
    assert.deepEqual([await endOf(store, 'old'), await endOf(store, 'new')], ['idle', null]);
    assert.deepEqual(nodes.flatMap(({ told }) => told).map(([name, context]) => [name, (context as { session_id: string }).session_id, (context as { reason: string }).reason]), [['session:end', 'old', 'idle']]);
    assert.equal(nodes.flatMap(({ lines }) => lines).filter((line) => line.includes('session.expired')).length, 1);
    const bound = await store.read((db) => boundSession(db, 'key:old'));
    assert.deepEqual([bound?.sessionId, bound?.endReason], ['old', 'idle']);
    assert.equal((await store.write((tx) => takeSessionEnd(tx, 'main')))?.sessionId, 'old');
    assert.equal(await store.write((tx) => takeSessionEnd(tx, 'main')), undefined);
    assert.equal(await newLook(store, idle).look(), 0);
  });

  test('a program in its background holds the end back until it has run as long as the rule says', async () => {
    const { store } = await open();
    for (const id of ['old', 'young', 'both', 'ended']) await add(store, id, { silentMs: 100 * minuteMs });
    const run = (id: string, sessionId: string, sinceMs: number): Promise<void> =>
      store.write(async (tx) => {
        await keepProcess(tx, { id, owner: 'elsewhere', sessionId, command: 'sleep', cwd: '/', notify: false, watch: null });
        await tx.q.updateTable('processes').set({ started_at: (await databaseNow(tx)) - sinceMs }).where('id', '=', id).execute();
      });
    await run('p1', 'old', 121 * minuteMs);
    await run('p2', 'young', 119 * minuteMs);
    await run('p3', 'both', 121 * minuteMs);
    await run('p4', 'both', 30 * minuteMs);
    await run('p5', 'ended', minuteMs);
    await store.write((tx) => processEnded(tx, 'p5', { state: 'ended', exitCode: 0 }));
    await newLook(store, { session_reset: { mode: 'idle', idle_minutes: 60, bg_process_max_age_hours: 2 } }).look();
    assert.deepEqual(await Promise.all(['old', 'young', 'both', 'ended'].map((id) => endOf(store, id))), ['idle', null, null, 'idle']);
  });

  test('one at work, one that another of its places keeps, one of a program, and those without a rule go on', async () => {
    const { store } = await open();
    for (const id of ['running', 'waiting', 'kept']) await add(store, id, { silentMs: 100 * minuteMs });
    await add(store, 'group', { silentMs: 100 * minuteMs, chatType: 'group' });
    await add(store, 'program', { silentMs: 100 * minuteMs, account: 'api_server' });
    await add(store, 'matrix', { silentMs: 100 * minuteMs, account: 'matrix@work' });
    await store.write(async (tx) => {
      for (const id of ['running', 'waiting']) await enqueueLane(tx, { lane: turnLane(id), kind: 'turn' });
      await claimLane(tx, { lane: turnLane('running'), owner: 'n', leaseMs: minuteMs });
      await bindSession(tx, { sessionKey: 'key:elsewhere', sessionId: 'kept', target: { account: 'telegram', chatId: 'g', chatType: 'group' } });
    });
    const { look } = newLook(store, { ...idle, reset_by_type: { group: { mode: 'none' } }, reset_by_platform: { matrix: { mode: 'idle', idle_minutes: 99 } } });
    assert.equal(await look(), 1);
    assert.deepEqual(await Promise.all(['running', 'waiting', 'kept', 'group', 'program', 'matrix'].map((id) => endOf(store, id))), [null, null, null, null, null, 'idle']);
  });

  test('of many some end at each look', async () => {
    const { store } = await open();
    for (let i = 0; i < 60; i += 1) await add(store, `s${i}`, { silentMs: 100 * minuteMs });
    const { look } = newLook(store, idle);
    assert.deepEqual([await look(), await look(), await look()], [50, 10, 0]);
  });
});
