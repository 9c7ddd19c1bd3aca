import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { elapse } from '../elapse.test-support.ts';
import { registerNode } from '../nodes.ts';
import type { Store } from '../store.ts';
import { claimSpeech, finishSpeech, giveUpSpeech, lastSpeechFailure, planSpeech, postponeSpeech, releaseSpeech } from './speech-work.ts';
import type { SpeechWork } from './speech-work.ts';

const plan = (store: Store, turnId: number, more: Partial<Parameters<typeof planSpeech>[1]> = {}): Promise<void> =>
  store.write((tx) => planSpeech(tx, { turnId, sessionId: 's1', agent: 'main', target: sampleTarget(), text: `answer ${turnId}`, ...more }));

const claim = (store: Store, owner = 'a', accounts: readonly string[] = ['telegram']): Promise<SpeechWork | undefined> => store.write((tx) => claimSpeech(tx, { owner, accounts, leaseMs: 60_000 }));

const register = (store: Store, ...ids: readonly string[]): Promise<void> =>
  store.write(async (tx) => {
    for (const id of ids) await registerNode(tx, { id, kind: 'gateway', pid: 1 });
  });

eachStore((_engine, open) => {
  test('an answer is planned once, taken up by one, and finished by whoever holds it', async () => {
    const { store } = await open();
    await register(store, 'a', 'b');
    await plan(store, 1);
    await plan(store, 1, { text: 'again' });
    const work = await claim(store);
    assert.deepEqual({ ...work, ageMs: 0 }, { turnId: 1, sessionId: 's1', agent: 'main', target: sampleTarget(), text: 'answer 1', attempts: 1, ageMs: 0 });
    assert.equal(await claim(store, 'b'), undefined);
    assert.equal(await store.write((tx) => finishSpeech(tx, { turnId: 1, owner: 'b' })), false);
    assert.equal(await store.write((tx) => finishSpeech(tx, { turnId: 1, owner: 'a' })), true);
    assert.equal(await store.write((tx) => finishSpeech(tx, { turnId: 1, owner: 'a' })), false);
  });

  test('only answers of accounts that are here are taken up, oldest first', async () => {
    const { store } = await open();
    await register(store, 'a');
    await plan(store, 2);
    await plan(store, 1, { target: sampleTarget({ account: 'web' }) });
    await plan(store, 3);
    assert.equal(await claim(store, 'a', []), undefined);
    assert.deepEqual([(await claim(store))?.turnId, (await claim(store))?.turnId, await claim(store)], [2, 3, undefined]);
    assert.equal((await claim(store, 'a', ['web', 'telegram']))?.turnId, 1);
  });

  test('what a process took up comes back when its lease ends, at once when the process is gone or says so', async () => {
    const opened = await open();
    const { store } = opened;
    await register(store, 'slow', 'b');
    await plan(store, 1);
    await claim(store, 'slow');
    assert.equal(await claim(store, 'b'), undefined);
    await elapse(opened, 60_000, 'speech_work');
    assert.equal((await claim(store, 'b'))?.attempts, 2);
    await store.write((tx) => releaseSpeech(tx, 'b'));
    assert.equal((await claim(store, 'nobody'))?.attempts, 2, 'what was given back is no attempt');
    assert.equal((await claim(store, 'b'))?.attempts, 3, 'a process that is not listed holds nothing');
  });

  test('a failure is tried later, and given up for good with its reason', async () => {
    const opened = await open();
    const { store } = opened;
    await register(store, 'a');
    await plan(store, 1);
    await claim(store);
    await store.write((tx) => postponeSpeech(tx, 1, { delayMs: 60_000, error: 'busy' }));
    assert.equal(await claim(store), undefined);
    await elapse(opened, 60_000, 'speech_work');
    assert.equal((await claim(store))?.attempts, 2);
    assert.equal(await store.read((db) => lastSpeechFailure(db, 's1')), undefined);
    await store.write((tx) => giveUpSpeech(tx, 1, 'it refused'));
    assert.equal(await claim(store), undefined);
    assert.deepEqual([await store.read((db) => lastSpeechFailure(db, 's1')), await store.read((db) => lastSpeechFailure(db, 's2'))], ['it refused', undefined]);
    await plan(store, 1);
    assert.equal(await claim(store), undefined, 'it stays given up');
  });

  test('several owners never get the same answer', async () => {
    const { store, another } = await open();
    const owners = Array.from({ length: 12 }, (_, index) => `o${index}`);
    await register(store, ...owners);
    const stores = [store, await another()];
    for (let turn = 1; turn <= 8; turn += 1) await plan(store, turn);
    const got = await Promise.all(owners.map((owner, index) => claim(stores[index % 2] ?? store, owner)));
    const turns = got.flatMap((work) => work?.turnId ?? []);
    assert.deepEqual([turns.length, new Set(turns).size], [8, 8]);
  });

  test('a plan wakes whoever listens', async () => {
    const { store } = await open();
    const woken: string[] = [];
    using _listening = store.listen('speech', (account) => woken.push(account));
    await plan(store, 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(woken, ['telegram']);
  });
});
