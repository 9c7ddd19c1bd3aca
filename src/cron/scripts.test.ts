import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, realpath, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { addJob, agentHome, answerTurns, hurried, makeDue, runsOf, sampleDeps, sampleOptions, sentTexts, start, statesOf, until } from './cron.test-support.ts';
import type { JobRequest } from './job-request.ts';
import { stopJob } from './manage-jobs.ts';
import { isScriptName } from './run-script.ts';

const isOver = async (store: Store): Promise<boolean> => {
  const states = await statesOf(store);
  return states.length > 0 && states.every((state) => state !== 'ready' && state !== 'running');
};

const isAsked = async (store: Store): Promise<boolean> => (await runsOf(store)).some(({ sessionId }) => sessionId !== null);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** A script that starts another one, says that it is there, and never ends. */
const endless = `
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
console.log('halfway');
writeFileSync('pids.new', JSON.stringify([process.pid, child.pid]));
renameSync('pids.new', 'pids');
setInterval(() => {}, 1000);
`;

const limitMs = 60_000;

/** A clock on which the time of a script is up once it has said how far it has come. */
const clockFor = (home: string): Clock => ({
  now: () => Date.now(),
  async sleep(ms, signal) {
    if (ms !== limitMs) return hurried.sleep(ms, signal);
    while (!existsSync(join(home, 'scripts', 'pids'))) await systemClock.sleep(5, signal);
  },
});

eachStore((_engine, open) => {
  /** Runs one job with these scripts until it is over, or its agent is asked; answers what the agent was asked. */
  const runWith = async (store: Store, home: string, request: JobRequest): Promise<string> => {
    await using _runner = start(sampleDeps(store, { clock: clockFor(home), home, childEnvironment: () => ({ PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }), options: () => sampleOptions({ script_timeout: limitMs / 1000 }) }));
    const job = await addJob(store, request);
    await makeDue(store, job.id);
    await until(async () => (await isOver(store)) || (await isAsked(store)), 'the script to have run');
    const [question] = await answerTurns(store, 'seen');
    await until(() => isOver(store), 'the run to end');
    return question?.prompt ?? '';
  };

  test('a script runs first, without our environment, and the agent gets what it wrote as data', async () => {
    const { store } = await open();
    await using at = await agentHome({ 'look.mjs': 'console.log("key sk-secret"); console.log(Object.keys(process.env).sort().join(" ")); console.log(process.cwd());' });
    const prompt = await runWith(store, at.home, { script: 'look.mjs' });
    assert.match(prompt, /The script look\.mjs has run for this job\.\]\n\[untrusted text [0-9a-f]+ from .*look\.mjs/);
    assert.match(prompt, /^HERMES_CRON_JOB_ID HERMES_CRON_JOB_NAME LANG PATH$/m);
    assert.match(prompt, /^key \*\*\*$/m);
    assert.match(prompt, /scripts$/m);
    assert.match(prompt, /What is new\?$/);
  });

  test('a script can say that there is nothing to ask, or be the whole job', async () => {
    for (const [text, request, state, sent] of [
      ['console.log("3 feeds"); console.log(JSON.stringify({ wakeAgent: false }))', {}, 'silent', []],
      ['console.log("disk is full")', { noAgent: true }, 'ok', [/^telegram:7 disk is full$/]],
      ['', { noAgent: true }, 'silent', []],
      ['console.log("[SILENT] all fine")', { noAgent: true }, 'silent', []],
      ['console.error("no such disk"); process.exit(3)', { noAgent: true }, 'failed', [/failed: its script failed with exit code 3: no such disk/]],
    ] as const) {
      const { store } = await open();
      await using at = await agentHome({ 'check.mjs': text });
      assert.equal(await runWith(store, at.home, { script: 'check.mjs', ...request }), '', text);
      assert.deepEqual(await statesOf(store), [state], text);
      const out = await sentTexts(store);
      assert.equal(out.length, sent.length);
      for (const [index, expected] of sent.entries()) assert.match(out[index] ?? '', expected);
    }
  });

  test('the agent is told of a script that fails, takes too long or is not there, and decides', async () => {
    const { store } = await open();
    await using at = await agentHome({ 'fail.mjs': 'console.log("half"); console.error("oops"); process.exit(2)', 'endless.mjs': endless });
    assert.match(await runWith(store, at.home, { script: 'fail.mjs' }), /failed with exit code 2[\s\S]*half[\s\S]*oops/);
    const second = await open();
    assert.match(await runWith(second.store, at.home, { script: 'endless.mjs' }), /ended because its time was up[\s\S]*halfway/);
    const pids = JSON.parse(await readFile(join(at.home, 'scripts', 'pids'), 'utf8')) as readonly number[];
    await until(() => !pids.some(isAlive), 'nothing of the script to be left');
    const third = await open();
    assert.match(await runWith(third.store, at.home, { script: 'nowhere.mjs' }), /did not run: there is no script nowhere\.mjs/);
  });

  test('a job with a folder has its script and its agent there', async () => {
    const { store } = await open();
    await using at = await agentHome({ 'where.mjs': 'console.log(`stands in ${process.cwd()}`)' });
    const folder = await realpath(at.home);
    const prompt = await runWith(store, at.home, { script: 'where.mjs', workdir: at.home });
    assert.ok(prompt.includes(`stands in ${folder}\n`), prompt);
    assert.ok(prompt.includes(`You work in the folder ${at.home}.`), prompt);
    const [run] = await runsOf(store);
    assert.equal((await store.read((db) => findSession(db, run?.sessionId ?? '')))?.settings.workdir, folder);
  });

  test('a job whose folder is gone does not run elsewhere, and says so', async () => {
    const { store } = await open();
    await using at = await agentHome({ 'mark.mjs': 'import { writeFileSync } from "node:fs"; writeFileSync("here", "")' });
    await using gone = await agentHome();
    const job = await addJob(store, { script: 'mark.mjs', workdir: gone.home });
    await rm(gone.home, { recursive: true });
    await using _runner = start(sampleDeps(store, { clock: hurried, home: at.home }));
    await makeDue(store, job.id);
    await until(() => isOver(store), 'the run to end');
    assert.deepEqual(await statesOf(store), ['failed']);
    assert.match((await sentTexts(store))[0] ?? '', /failed: The folder .* does not exist\./);
    assert.equal(existsSync(join(at.home, 'scripts', 'here')), false);
  });

  test('a link does not lead out of the folder', async () => {
    const { store } = await open();
    await using at = await agentHome();
    await using outside = await agentHome({ 'evil.mjs': 'console.log("got out")' });
    await symlink(join(outside.home, 'scripts', 'evil.mjs'), join(at.home, 'scripts', 'link.mjs'));
    assert.match(await runWith(store, at.home, { script: 'link.mjs' }), /there is no script link\.mjs/);
  });

  test('a script that a shutdown cuts off is not run again: the agent is told, or the job has failed', async () => {
    for (const noAgent of [false, true]) {
      const { store } = await open();
      await using at = await agentHome({ 'endless.mjs': endless });
      const job = await addJob(store, { script: 'endless.mjs', noAgent });
      await makeDue(store, job.id);
      {
        await using _first = start(sampleDeps(store, { clock: hurried, home: at.home, options: () => sampleOptions({ script_timeout: 86_400 }) }));
        await until(() => existsSync(join(at.home, 'scripts', 'pids')), 'the script to run');
      }
      await using _second = start(sampleDeps(store, { clock: hurried, home: at.home, owner: 'node-b' }));
      await until(async () => (await isOver(store)) || (await isAsked(store)), 'the run to be taken up');
      const [question] = await answerTurns(store, 'I know');
      await until(() => isOver(store), 'the run to end');
      assert.deepEqual(await statesOf(store), [noAgent ? 'interrupted' : 'ok']);
      if (!noAgent) assert.match(question?.prompt ?? '', /was cut off when the gateway ended, and was not run again/);
    }
  });

  test('stopping a job ends its script', async () => {
    const { store } = await open();
    await using at = await agentHome({ 'endless.mjs': endless });
    await using _runner = start(sampleDeps(store, { clock: hurried, home: at.home, options: () => sampleOptions({ script_timeout: 86_400 }) }));
    const job = await addJob(store, { script: 'endless.mjs' });
    await makeDue(store, job.id);
    await until(async () => (await statesOf(store)).includes('running'), 'the script to run');
    assert.equal(await store.write((tx) => stopJob(tx, job.id)), 1);
    assert.deepEqual(await statesOf(store), ['stopped']);
    await until(async () => (await store.read((db) => db.q.selectFrom('lanes').select('has_work').where('kind', '=', 'cron').executeTakeFirst()))?.has_work === 0, 'the run to be let go');
  });
});

test('a script is named by a path below the folder', () => {
  for (const name of ['check.py', 'mail/check.sh']) assert.ok(isScriptName(name), name);
  for (const name of ['', '/etc/passwd', '../check.py', 'a/../../b', './x', 'a//b', 'C:\\x', 'x\0']) assert.equal(isScriptName(name), false, name);
});

eachStore((_engine, open) => {
  test('the script of a run that another gateway has by now ends here, and what the other does stays', async () => {
    const { store } = await open();
    await using agent = await agentHome({ 'endless.mjs': endless });
    await using _runner = start(sampleDeps(store, { clock: hurried, home: agent.home, childEnvironment: () => ({ PATH: '/usr/bin:/bin' }), options: () => sampleOptions({ script_timeout: 86_400 }) }));
    const job = await addJob(store, { script: 'endless.mjs', noAgent: true, prompt: '' });
    await makeDue(store, job.id);
    const pids = join(agent.home, 'scripts', 'pids');
    await until(() => existsSync(pids), 'the script to run');
    const running = JSON.parse(await readFile(pids, 'utf8')) as number[];
    await store.write((tx) => tx.q.updateTable('lanes').set((eb) => ({ owner: 'another', fence: eb('fence', '+', 1), lease_until: eb(tx.now, '+', 3_600_000) })).where('kind', '=', 'cron').execute());
    await until(() => !running.some(isAlive), 'the script to end');
    const lane = await store.read((db) => db.q.selectFrom('lanes').select(['owner', 'has_work']).where('kind', '=', 'cron').executeTakeFirst());
    assert.deepEqual([await statesOf(store), lane], [['running'], { owner: 'another', has_work: 1 }]);
  });
});
