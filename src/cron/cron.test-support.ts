import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Skill } from '../agent/tools/skills/load-skills.ts';
import { replyTarget } from '../core/message.ts';
import type { Target } from '../core/message.ts';
import { noUsage } from '../core/transcript.ts';
import type { ExitReason } from '../core/turn.ts';
import type { ResolveDeps } from '../delivery/resolve-target.ts';
import { systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { accountOptions } from '../platforms/account-options.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { beginTurn } from '../sessions/begin.ts';
import type { TurnPolicy } from '../sessions/turn-policy.ts';
import { commitTurn } from '../sessions/commit.ts';
import type { CronJob, JobOrigin } from '../store/cron/cron-jobs.ts';
import { listRuns } from '../store/cron/cron-runs.ts';
import type { CronRun } from '../store/cron/cron-runs.ts';
import { claimLane, readyLanes } from '../store/lanes/lanes.ts';
import type { Delivery } from '../store/messages/outbox.ts';
import type { Store } from '../store/store.ts';
import type { CronDeps } from './deps.ts';
import type { FoundFolder, JobRequest, JobRules } from './job-request.ts';
import { createJob } from './manage-jobs.ts';
import { cronSection } from './options.ts';
import type { CronOptions } from './options.ts';
import { CronRunner } from './runner.ts';
import { settleCronTurn } from './settle-turn.ts';
import { until } from '../../test/support/until.ts';

export { until };

/** Telegram with a home channel, and a second account of it that has none. */
export const sampleTargets: ResolveDeps = {
  platforms: () => [telegram as Platform],
  accounts: () => ['telegram', 'telegram@work'],
  aliases: () => ({}),
  account: (name) =>
    name === 'telegram' || name === 'telegram@work' ? { platform: telegram as Platform, common: accountOptions.parse(name === 'telegram' ? { home_channel: { chat_id: '42' } } : {}) } : undefined,
};

export const sampleOptions = (more: Readonly<Record<string, unknown>> = {}): CronOptions => cronSection.schema.parse({ timezone: 'Europe/Berlin', wrap_response: false, ...more });

/** Every folder that there is. */
const sampleFolder = async (path: string): Promise<FoundFolder> =>
  existsSync(path) ? { type: 'found', path, real: await realpath(path) } : { type: 'problem', problem: `The folder ${path} does not exist.` };

export const sampleRules = (more: Partial<JobRules> = {}): JobRules => ({ targets: sampleTargets, options: () => sampleOptions(), isAgent: (id) => id === 'main' || id === 'helper', findFolder: (_agent, written) => sampleFolder(written), ...more });

export const sampleSkill: Skill = { name: 'brief', description: 'Be brief', body: 'Say it in one line.', tags: [], variables: [], folder: '/skills/brief', writable: false } as unknown as Skill;

/** A folder for the agent `main`, with these scripts. */
export const agentHome = async (scripts: Readonly<Record<string, string>> = {}): Promise<{ readonly home: string } & AsyncDisposable> => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-cron-'));
  await mkdir(join(home, 'scripts'));
  for (const [name, text] of Object.entries(scripts)) await writeFile(join(home, 'scripts', name), text, { mode: 0o700 });
  return { home, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
};

/** What a runner works with; results go out as they are. */
export const sampleDeps = (store: Store, more: Partial<CronDeps> & { readonly home?: string } = {}): CronDeps => ({
  store,
  clock: systemClock,
  log: silentLogger,
  owner: 'node-a',
  targets: sampleTargets,
  options: () => sampleOptions(),
  prepare: (text) => Promise.resolve({ text }),
  agent: (id) => Promise.resolve(id === 'gone' ? undefined : { home: more.home ?? '/nowhere', findSkill: (name) => (name === 'brief' ? sampleSkill : undefined), redact: (text) => text.replaceAll('sk-secret', '***'), findFolder: sampleFolder }),
  childEnvironment: () => ({ PATH: '/usr/local/bin:/usr/bin:/bin' }),
  ...more,
});

export const origin: JobOrigin = { target: { account: 'telegram', chatId: '7', chatType: 'dm', replyTo: 'm1' }, userId: '7', userName: 'Ada' };

/** A job of the agent `main`, made in the direct chat of person 7. */
export const addJob = (store: Store, request: JobRequest = {}, of: { readonly agent?: string; readonly origin?: JobOrigin } = {}): Promise<CronJob> =>
  store.write((tx) => createJob(tx, sampleRules(), { agent: of.agent ?? 'main', origin: of.origin ?? origin, request: { schedule: '0 9 * * *', prompt: 'What is new?', ...request } }));

let slots = 0;

/** As if the job had been due for so long; a slot that it has not had before. */
export const makeDue = (store: Store, id: string, agoMs = 0): Promise<void> =>
  store.write(async (tx) => {
    slots += 1;
    await tx.q
      .updateTable('cron_jobs')
      .set((eb) => ({ next_at: eb(tx.now, '-', agoMs + slots) }))
      .where('id', '=', id)
      .execute();
    tx.notify('cron', `job:${id}`);
  });

const policy: TurnPolicy = { maxAttempts: 3, continueWithinMs: () => 3_600_000, busyMode: () => 'queue', isShared: () => false, replyTo: replyTarget, anchorAll: () => false, platform: () => undefined, settle: settleCronTurn };

export interface Asked {
  readonly sessionId: string;
  readonly prompt: string;
  readonly target: Target;
}

/** Takes up the turns that wait, each as its agent would, and ends them; answers what was asked. */
export const answerTurns = async (store: Store, text: string, reason: ExitReason = 'completed'): Promise<readonly Asked[]> => {
  const answerOne = async (lane: string): Promise<readonly Asked[]> => {
    const begun = await store.write(async (tx) => {
      const claim = await claimLane(tx, { lane, owner: 'agent', leaseMs: 60_000 });
      return claim === undefined ? undefined : beginTurn(tx, claim, policy);
    });
    if (begun?.type !== 'turn') return [];
    const error = reason === 'model_error' ? 'The model is away.' : null;
    await commitTurn(store, begun, { reason, asked: false, window: {}, error, model: null, usage: noUsage, messages: [{ role: 'assistant', content: text }], answer: { target: begun.turn.target, text } }, policy);
    return [{ sessionId: begun.session.id, prompt: begun.last?.event.text ?? '', target: begun.turn.target }];
  };
  const lanes = await store.read((db) => readyLanes(db, 'turn', 1000));
  return (await Promise.all(lanes.map(({ lane }) => answerOne(lane)))).flat();
};

/** Oldest first. */
export const runsOf = async (store: Store, jobId?: string): Promise<readonly CronRun[]> => (await store.read((db) => listRuns(db, { limit: 5000, ...(jobId !== undefined && { jobId }) }))).toReversed();

export const statesOf = async (store: Store, jobId?: string): Promise<readonly string[]> => (await runsOf(store, jobId)).map(({ state }) => state);

/** What has been put on its way, oldest first: `telegram:42 text`. */
export const sentTexts = async (store: Store): Promise<readonly string[]> => {
  const rows = await store.read((db) => db.q.selectFrom('outbox').select('payload').orderBy('id').execute());
  return rows.map(({ payload }) => (JSON.parse(payload) as Delivery).message).map(({ target, text }) => `${target.account}:${target.chatId} ${text}`);
};

/** A clock that hurries what only waits, where the database has its own. */
export const hurried: Clock = { now: () => Date.now(), sleep: (ms, signal) => systemClock.sleep(ms / 50, signal) };

/** A runner that is stopped when the test leaves. */
export const start = (deps: CronDeps): AsyncDisposable & { readonly runner: CronRunner } => {
  const runner = new CronRunner(deps);
  runner.start();
  let stopped: Promise<void> | undefined;
  return { runner, [Symbol.asyncDispose]: () => (stopped ??= runner.stop(0)) };
};

/** Waits until so many runs have asked their agents. */
export const asked = (store: Store, count: number): Promise<void> => until(async () => (await runsOf(store)).filter((run) => run.sessionId !== null).length === count, `${count} runs to be asked`);

/** Waits until the runs are in these states, oldest first. */
export const over = (store: Store, ...states: readonly string[]): Promise<void> => until(async () => JSON.stringify(await statesOf(store)) === JSON.stringify(states), `runs that are ${states.join(', ')}`);
