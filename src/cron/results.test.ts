import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { deliveryStatus } from '../store/cron/cron-runs.ts';
import { bindSession, createSession } from '../store/sessions/sessions.ts';
import { addJob, answerTurns, asked, hurried, makeDue, over, runsOf, sampleDeps, sampleOptions, sentTexts, start, statesOf, until } from './cron.test-support.ts';
import type { CronDeps } from './deps.ts';

eachStore((_engine, open) => {
  /** Looks sooner than usual for what no notification tells. */
  const clockOf = (deps: Partial<CronDeps>): Partial<CronDeps> => ({ clock: hurried, ...deps });

  test('failures are told once in a row, and again after it has worked', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const job = await addJob(store, { deliver: 'telegram', failureDeliver: 'origin' });
    const round = async (text: string, reason: 'completed' | 'model_error', count: number): Promise<void> => {
      await makeDue(store, job.id);
      await asked(store, count);
      await answerTurns(store, text, reason);
      await until(async () => (await statesOf(store)).every((state) => state === 'ok' || state === 'failed' || state === 'silent'), 'the run to end');
    };
    await round('', 'model_error', 1);
    await round('', 'model_error', 2);
    await round('[SILENT] nothing new', 'completed', 3);
    await round('', 'completed', 4);
    await round('back again', 'completed', 5);
    assert.deepEqual(await statesOf(store), ['failed', 'failed', 'silent', 'failed', 'ok']);
    const sent = await sentTexts(store);
    assert.equal(sent.length, 3);
    assert.match(sent[0] ?? '', /^telegram:7 ⚠️ The scheduled job \*\*What is new\?\*\* failed: The model is away\./);
    assert.match(sent[1] ?? '', /there was no answer/);
    assert.equal(sent[2], 'telegram:42 back again');
  });

  test('a run whose turn was cut off too long ago has ended, and says so', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const job = await addJob(store, { deliver: 'telegram', failureDeliver: 'origin' });
    await makeDue(store, job.id);
    await asked(store, 1);
    await answerTurns(store, '', 'cut_off');
    await over(store, 'interrupted');
    assert.match((await sentTexts(store))[0] ?? '', /it was cut off when the gateway ended, too long ago to go on by itself/);
  });

  test('a marker only counts by the grammar for jobs', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const job = await addJob(store, { overlap: 'parallel' });
    for (const [index, text] of ['[SILENT]', 'NO_REPLY', '**NO_REPLY**', 'It said [SILENT] and went on.', '...'].entries()) {
      await makeDue(store, job.id);
      await asked(store, index + 1);
      await answerTurns(store, text);
    }
    await over(store, 'silent', 'silent', 'ok', 'ok', 'ok');
    assert.deepEqual(await sentTexts(store), ['telegram:7 **NO_REPLY**', 'telegram:7 It said [SILENT] and went on.', 'telegram:7 ...']);
  });

  test('a result that cannot be delivered is a result, and says why it is nowhere', async () => {
    const { store } = await open();
    let isThere = true;
    const targets = { ...sampleDeps(store).targets, account: (name: string) => (isThere ? sampleDeps(store).targets.account(name) : undefined) };
    await using _runner = start(sampleDeps(store, clockOf({ targets })));
    const job = await addJob(store, { deliver: 'telegram' });
    isThere = false;
    await makeDue(store, job.id);
    await asked(store, 1);
    await answerTurns(store, 'fine');
    await over(store, 'ok');
    const [run] = await runsOf(store);
    assert.ok(run !== undefined);
    assert.deepEqual((await store.read((db) => deliveryStatus(db, [run]))).get(run.id), { state: 'failed', errors: ['telegram: the account telegram is not configured'] });
  });

  test('a result becomes part of the conversation it goes to only where the job asks for that', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await createSession(tx, { id: 's7', agent: 'main', account: 'telegram', chatType: 'dm', userId: '7' });
      await bindSession(tx, { sessionKey: 'agent:main:telegram:dm:7', sessionId: 's7', target: { account: 'telegram', chatId: '7', chatType: 'dm' } });
    });
    await using _runner = start(sampleDeps(store, clockOf({})));
    for (const [index, mirror] of [false, true].entries()) {
      const job = await addJob(store, { mirror, prompt: mirror ? 'kept' : 'apart' });
      await makeDue(store, job.id);
      await asked(store, index + 1);
      await answerTurns(store, `the ${job.name} one`);
      await until(async () => (await statesOf(store, job.id)).includes('ok'), 'the run to end');
    }
    const said = await store.read((db) => db.q.selectFrom('messages').select(['role', 'content']).where('session_id', '=', 's7').execute());
    assert.deepEqual(said, [{ role: 'user', content: '[This was sent by the scheduled job "kept" and shown in this chat. Nobody here has said it:]\nthe kept one' }]);
  });

  test('a result goes out with the files it names, and without them when they cannot be read', async () => {
    const { store } = await open();
    let isReadable = true;
    const media = [{ kind: 'photo' as const, path: 'outgoing/a.png', mime: 'image/png', name: 'a.png' }];
    const prepare: CronDeps['prepare'] = (text, { agent }) => (isReadable ? Promise.resolve({ text: `${text} for ${agent}`, media }) : Promise.reject(new Error('no')));
    await using _runner = start(sampleDeps(store, clockOf({ prepare, options: () => sampleOptions({ wrap_response: true }) })));
    const job = await addJob(store, { name: 'Picture' });
    for (const count of [1, 2]) {
      await makeDue(store, job.id);
      await asked(store, count);
      await answerTurns(store, 'look');
      await until(async () => (await statesOf(store)).filter((state) => state === 'ok').length === count, 'the run to end');
      isReadable = false;
    }
    const [first, second] = await sentTexts(store);
    assert.match(first ?? '', /^telegram:7 ⏰ \*\*Picture\*\*\n\nlook\n\n_From the scheduled job `[0-9a-f]{12}`\..*_ for main$/);
    assert.match(second ?? '', /look[\s\S]*_$/);
    const payloads = await store.read((db) => db.q.selectFrom('outbox').select('payload').orderBy('id').execute());
    assert.deepEqual(payloads.map(({ payload }) => payload.includes('a.png')), [true, false]);
  });

  test('a job whose agent is gone fails, and says so', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({ agent: () => Promise.resolve(undefined) })));
    const job = await addJob(store);
    await makeDue(store, job.id);
    await over(store, 'failed');
    assert.match((await sentTexts(store))[0] ?? '', /there is no agent main any more/);
  });

  test('what other jobs said last comes with the question', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const news = await addJob(store, { name: 'News', deliver: 'local' });
    const empty = await addJob(store, { name: 'Empty' });
    const digest = await addJob(store, { name: 'Digest', contextFrom: ['News', empty.id] });
    await makeDue(store, news.id);
    await asked(store, 1);
    await answerTurns(store, 'It rains.');
    await over(store, 'ok');
    await makeDue(store, digest.id);
    await asked(store, 2);
    assert.deepEqual(await sentTexts(store), [], 'what goes nowhere is only kept');
    const [question] = await answerTurns(store, 'done');
    assert.match(question?.prompt ?? '', /\[What the job News said last\]\n\[untrusted text[\s\S]*It rains\.[\s\S]*The job Empty has had no result yet/);
  });
});
