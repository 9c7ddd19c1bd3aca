import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { sampleRules } from '../cron/cron.test-support.ts';
import { listJobs } from '../store/cron/cron-jobs.ts';
import { openRuns } from '../store/cron/cron-runs.ts';
import type { Store } from '../store/store.ts';
import { anybody, begin, give, ownEvent, sampleReach } from './command-call.test-support.ts';
import type { CommandAct, CommandCall } from './contract.ts';

const reach = sampleReach({ cron: sampleRules() });
const nowMs = Date.UTC(2026, 0, 1);

const tell = (store: Store, text: string, more: Partial<CommandCall> = {}): Promise<string> => give(store, text, { reach, nowMs, ...more });

const onlyJob = async (store: Store) => {
  const [job, ...others] = await store.read((db) => listJobs(db, { completed: true }));
  assert.ok(job !== undefined && others.length === 0);
  return job;
};

eachStore((_engine, open) => {
  test('a job is made in the words of a sentence, and its answer comes back to this chat', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await tell(store, '/cron add 0 9 * * 1-5 Tell me the news'), /^⏰ \*\*Tell me the news\*\* `[0-9a-f]{12}` is scheduled, 0 9 \* \* 1-5 \(Europe\/Berlin\); next \d{4}-\d\d-\d\d 09:00 Europe\/Berlin\.$/);
    const job = await onlyJob(store);
    assert.deepEqual([job.prompt, job.deliver, job.origin?.target.chatId, job.origin?.userId, job.agent], ['Tell me the news', 'origin', '7', '7', 'main']);
  });

  test('every way to write a schedule is told apart from the question that follows', async () => {
    for (const [text, display, prompt] of [
      ['in 30m stretch', 'once in 30m', 'stretch'],
      ['2 hours look again', 'once in 2 hours', 'look again'],
      ['every 2h 5 new mails?', 'every 2h', '5 new mails?'],
      ['2099-04-01 08:30 call mum', 'once at 2099-04-01 08:30', 'call mum'],
      ['"every 1d" 2h sleep', 'every 1d', '2h sleep'],
    ] as const) {
      const { store } = await open();
      await begin(store);
      await tell(store, `/cron add ${text}`);
      const job = await onlyJob(store);
      assert.deepEqual([job.display, job.prompt], [display, prompt]);
    }
  });

  test('jobs are listed, shown, changed, paused, resumed, run, stopped and removed', async () => {
    const { store } = await open();
    await begin(store);
    assert.match(await tell(store, '/cron'), /Nothing is scheduled/);
    await tell(store, '/cron add every 2h Look for mail');
    const { id } = await onlyJob(store);
    assert.match(await tell(store, '/cron list'), new RegExp(`- \\*\\*Look for mail\\*\\* \`${id}\`, every 2h, next `));
    assert.match(await tell(store, `/cron edit ${id} name Mail`), /\*\*Mail\*\*/);
    assert.match(await tell(store, '/cron edit mail deliver pigeon'), /^⛔ That cannot be delivered: there is no platform called "pigeon"/);
    assert.match(await tell(store, '/cron edit mail workdir /no/such/folder'), /^⛔ The folder \/no\/such\/folder does not exist/);
    await tell(store, '/cron edit mail workdir /');
    assert.match(await tell(store, '/cron show mail'), /\*\*Works in\*\* \/$/m);
    await tell(store, '/cron edit mail workdir');
    assert.doesNotMatch(await tell(store, '/cron show mail'), /Works in/);
    assert.match(await tell(store, '/cron show mail'), /\*\*Question\*\* Look for mail/);
    assert.match(await tell(store, '/cron pause Mail'), /⏸/);
    assert.match(await tell(store, '/cron'), /next paused/);
    assert.match(await tell(store, '/cron resume Mail'), /▶️ .* goes on; next /);
    assert.match(await tell(store, '/cron run Mail', { inboxId: 77 }), /runs now\. Its result goes to origin\./);
    assert.deepEqual((await store.read((db) => openRuns(db, id))).map(({ slot }) => slot), ['run:command:77']);
    assert.match(await tell(store, '/cron run Mail', { inboxId: 78 }), /running already/);
    assert.match(await tell(store, '/cron runs Mail'), /- #\d+ .*: about to begin/);
    assert.match(await tell(store, '/cron stop Mail'), /⏹/);
    assert.match(await tell(store, '/cron remove Mail', { asks: true }), /^ASKS Remove the scheduled job \*\*Mail\*\*/);
    assert.match(await tell(store, '/cron remove Mail'), /🗑️/);
    assert.match(await tell(store, '/cron show Mail'), /⛔ There is no job "Mail"/);
  });

  test('what is done to a job is written down by its id, never by its words; what changes nothing is not', async () => {
    const { store } = await open();
    await begin(store);
    const acts: CommandAct[] = [];
    const call = { acted: (act: CommandAct): void => void acts.push(act) };
    await tell(store, '/cron add every 2h Look for mail', call);
    const { id } = await onlyJob(store);
    for (const text of ['/cron', '/cron show', '/cron stop', '/cron edit', '/cron edit nobody', '/cron pause nothing', '/cron add never ever']) await tell(store, text.replace(/^\/cron (show|stop|edit)$/, `$& ${id}`), call);
    for (const text of [`edit ${id} schedule every 3h`, `pause ${id}`, `resume ${id}`, `run ${id}`, `stop ${id}`, `remove ${id}`]) await tell(store, `/cron ${text}`, call);
    assert.deepEqual(acts, [
      { act: '/cron add', subject: `${id} (agent main, every 2h)` },
      ...['edit', 'pause', 'resume', 'run', 'stop', 'remove'].map((verb) => ({ act: `/cron ${verb}`, subject: `${id} (agent main, every 3h)` })),
    ]);
  });

  test('somebody who decides nothing for others sees and touches only what is theirs', async () => {
    const { store } = await open();
    await begin(store);
    await tell(store, '/cron add every 2h Of seven');
    const eight = { access: anybody, event: { ...ownEvent, sender: { id: '8', isBot: false } } };
    assert.match(await tell(store, '/cron', eight), /Nothing is scheduled/);
    assert.match(await tell(store, '/cron remove Of seven', eight), /There is no job/);
    await tell(store, '/cron add every 3h Of eight', eight);
    assert.match(await tell(store, '/cron', eight), /Of eight/);
    assert.doesNotMatch(await tell(store, '/cron', eight), /Of seven/);
    assert.match(await tell(store, '/cron'), /Of seven[\s\S]*Of eight/);
  });

  test('only who decides for others has results sent to a place that nobody has written from', async () => {
    const { store } = await open();
    await begin(store);
    const guest = { access: anybody };
    await tell(store, '/cron add every 2h Look', guest);
    for (const field of ['deliver', 'failures']) assert.match(await tell(store, `/cron edit Look ${field} telegram:999`, guest), /^⛔ .*only admins/, field);
    assert.equal((await onlyJob(store)).deliver, 'origin');
    assert.match(await tell(store, '/cron edit Look deliver origin, telegram', guest), /^✅/);
    assert.match(await tell(store, '/cron edit Look deliver telegram:999'), /^✅/);
  });

  test('what cannot be understood is answered with how it is said', async () => {
    const { store } = await open();
    await begin(store);
    for (const text of ['/cron add', '/cron show', '/cron dance mail', '/cron edit']) assert.match(await tell(store, text), /Usage:|There is no job/);
    assert.match(await tell(store, '/cron add tomorrow at nine wake me'), /⛔ "tomorrow" is no schedule/);
    assert.equal(await give(store, '/cron', { reach: sampleReach() }), 'Nothing can be scheduled here.');
  });
});
