import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import type { OpenedStore } from '../../test/support/stores.ts';
import { isPaired, listPaired, pendingPairings, removePending, unpair } from '../store/accounts/pairing.ts';
import { anyAccount, approveCode, approveRequest, askToPair, invite, pairingRules, redeemInvite } from './pairing.ts';
import { newCode, readCode } from './pairing-code.ts';

type Step = readonly [string, (string | number)?];

const vectors = JSON.parse(readFileSync(new URL('../../test/vectors/pairing.json', import.meta.url), 'utf8')) as { cases: readonly { id: string; in: readonly Step[]; out: readonly unknown[] }[] };

const account = 'telegram';
const personOf = (userId: string) => ({ account, userId, userName: null });

/** Plays one step of a case; `codes` remembers who was given which code. */
const play = ({ store, pass }: OpenedStore, codes: Map<string, { code: string; id: string }>, [what, subject]: Step): Promise<unknown> => {
  const who = String(subject);
  const pending = () => store.read((db) => pendingPairings(db, { account, kind: 'request', lifeMs: pairingRules.lifeMs }));
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    ask: async () => {
      const code = await store.write((tx) => askToPair(tx, personOf(who)));
      if (code === undefined) return null;
      codes.set(who, { code, id: (await pending()).find(({ userId }) => userId === who)?.id ?? '' });
      return 'code';
    },
    approve: async () => {
      const approval = await store.write((tx) => approveCode(tx, { account, text: codes.get(who)?.code ?? who, approvedBy: 'owner' }));
      return approval.type === 'approved' ? approval.person.userId : null;
    },
    approve_id: async () => {
      const approval = await store.write((tx) => approveRequest(tx, { id: codes.get(who)?.id ?? who, approvedBy: 'owner' }));
      return approval.type === 'approved' ? approval.person.userId : null;
    },
    is_approved: () => store.read((db) => isPaired(db, account, [who])),
    pending: async () => (await pending()).length,
    wait: async () => {
      await pass(Number(subject) * 1000);
      return null;
    },
    revoke: () => store.write((tx) => unpair(tx, account, who)),
    clear: async () => {
      const open = await pending();
      await store.write((tx) => removePending(tx, open.map(({ id }) => id)));
      return open.length;
    },
  };
  const step = steps[what];
  if (step === undefined) throw new Error(`no step is called ${what}`);
  return step();
};

eachStore((engine, open) => {
  for (const { id, in: steps, out } of vectors.cases) {
    // PostgreSQL's own clock counts there; an hour cannot be made to pass.
    const needsTime = steps.some(([what]) => what === 'wait');
    test(`pairing goes as the vector ${id} says`, { skip: needsTime && engine === 'postgres' ? 'needs an hour to pass' : false }, async () => {
      const opened = await open();
      const codes = new Map<string, { code: string; id: string }>();
      const answers: unknown[] = [];
      for (const step of steps) answers.push(await play(opened, codes, step));
      assert.deepEqual(answers, out);
    });
  }

  test('a code is kept only as a salted hash', async () => {
    const { store } = await open();
    const code = await store.write((tx) => askToPair(tx, personOf('u1')));
    const [kept] = await store.read((db) => pendingPairings(db, { lifeMs: pairingRules.lifeMs }));
    assert.ok(code !== undefined && kept !== undefined);
    assert.ok(!JSON.stringify(kept).includes(code));
    assert.match(kept.hash, /^[0-9a-f]{64}$/);
    assert.match(kept.salt, /^[0-9a-f]{32}$/);
  });

  test('an invitation lets in the first person who sends its code, once', async () => {
    const { store } = await open();
    const code = await store.write((tx) => invite(tx, personOf('admin')));
    assert.equal((await store.write((tx) => redeemInvite(tx, personOf('u1'), ` ${code.toLowerCase()} `))).type, 'in');
    assert.equal((await store.write((tx) => redeemInvite(tx, personOf('u2'), code))).type, 'no');
    assert.deepEqual((await store.read(listPaired)).map(({ userId, approvedBy }) => [userId, approvedBy]), [['u1', 'admin']]);
  });

  test('wrong guesses at invitations stop the one who guesses and nobody else', async () => {
    const { store } = await open();
    const code = await store.write((tx) => invite(tx, personOf('admin')));
    for (let i = 0; i < 4; i += 1) assert.deepEqual(await store.write((tx) => redeemInvite(tx, personOf('mallory'), 'AAAAAAAA')), { type: 'no' });
    assert.deepEqual(await store.write((tx) => redeemInvite(tx, personOf('mallory'), 'AAAAAAAA')), { type: 'no', locks: true });
    assert.deepEqual(await store.write((tx) => redeemInvite(tx, personOf('mallory'), code)), { type: 'no' });
    assert.equal((await store.write((tx) => redeemInvite(tx, personOf('ada'), code))).type, 'in');
  });

  test('the wrong code that locks approvals says so, once', async () => {
    const { store } = await open();
    const tries: unknown[] = [];
    for (let i = 0; i < 6; i += 1) tries.push(await store.write((tx) => approveCode(tx, { account, text: 'AAAAAAAA', approvedBy: 'owner' })));
    assert.deepEqual(tries.slice(0, 5), [{ type: 'unknown' }, { type: 'unknown' }, { type: 'unknown' }, { type: 'unknown' }, { type: 'unknown', locks: true }]);
    assert.equal((tries[5] as { type: string }).type, 'locked');
  });

  test('two processes cannot use one code twice', async () => {
    const { store, another } = await open();
    const code = await store.write((tx) => invite(tx, personOf('admin')));
    const second = await another();
    const results = await Promise.all([store.write((tx) => redeemInvite(tx, personOf('u1'), code)), second.write((tx) => redeemInvite(tx, personOf('u2'), code))]);
    assert.deepEqual(results.map(({ type }) => type).toSorted(), ['in', 'no']);
  });

  test('an invitation to any account lets in one person, also when two on different accounts send its code at once', async () => {
    const { store, another } = await open();
    const second = await another();
    for (let i = 0; i < 20; i += 1) {
      const code = await store.write((tx) => invite(tx, { ...personOf('admin'), account: anyAccount }));
      const results = await Promise.all([
        store.write((tx) => redeemInvite(tx, { ...personOf(`u${i}`), account: 'telegram' }, code)),
        second.write((tx) => redeemInvite(tx, { ...personOf(`u${i}`), account: 'discord' }, code)),
      ]);
      assert.deepEqual(results.map(({ type }) => type).toSorted(), ['in', 'no']);
    }
  });
});

test('three strangers cannot keep a fourth person out for an hour', async () => {
  const { manualClock } = await import('../lib/clock.ts');
  const { mkdtemp, rm } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const { SqliteStore } = await import('../store/engines/sqlite.ts');
  const folder = await mkdtemp(`${tmpdir()}/hermes-pairing-`);
  const clock = manualClock();
  const store = new SqliteStore({ path: `${folder}/gateway.db`, clock, checkIntegrity: false });
  for (const stranger of ['s1', 's2', 's3']) assert.ok(await store.write((tx) => askToPair(tx, personOf(stranger))));
  assert.equal(await store.write((tx) => askToPair(tx, personOf('ada'))), undefined);
  await clock.advance(pairingRules.askAgainMs);
  assert.ok(await store.write((tx) => askToPair(tx, personOf('ada'))));
  await store.close();
  await rm(folder, { recursive: true });
});

test('codes have eight letters that nobody confuses, and are read as people type them', () => {
  for (let i = 0; i < 200; i += 1) assert.match(newCode(), /^[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{8}$/);
  assert.equal(readCode('  abcd2345\n'), 'ABCD2345');
  assert.equal(readCode('ABCD1O00'), undefined);
  assert.equal(readCode('hello there'), undefined);
});
