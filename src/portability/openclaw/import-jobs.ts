import { createHash } from 'node:crypto';
import { JobRefused } from '../../cron/job-request.ts';
import type { JobRules } from '../../cron/job-request.ts';
import type { OpenclawSharedState } from '../../store/foreign/openclaw-state.ts';
import { importJob } from '../import-job.ts';
import type { WantedJob } from '../import-job.ts';
import type { ImportReport } from '../import-report.ts';
import { at, wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';
import type { Attempt } from '../try-out.ts';
import type { OpenclawAgent } from './agents.ts';
import { accountName, bareId } from './channels.ts';
import { readJobs } from './read-jobs.ts';

const minuteMs = 60_000;

const scheduleOf = (job: Plain): string | undefined => {
  const everyMs = Number(at(job, 'schedule', 'everyMs'));
  const atMs = Number(at(job, 'schedule', 'atMs'));
  switch (at(job, 'schedule', 'kind')) {
    case 'at':
      return wordAt(job, 'schedule', 'at') ?? (atMs > 0 ? new Date(atMs).toISOString() : undefined);
    case 'every':
      return everyMs >= minuteMs ? `every ${Math.round(everyMs / minuteMs)}m` : undefined;
    case 'cron':
      return wordAt(job, 'schedule', 'expr');
    default:
      return undefined;
  }
};

/** A place as people write it here; `local` where the result was not to be said, or nobody knows where. */
const deliverOf = (job: Plain): string => {
  const isOld = at(job, 'delivery') === undefined && at(job, 'payload', 'deliver') === true;
  const where = isOld ? at(job, 'payload') : at(job, 'delivery');
  const [channel, to] = [wordAt(where, 'channel'), wordAt(where, 'to')];
  if ((!isOld && wordAt(where, 'mode') !== 'announce') || channel === undefined || channel === 'last' || to === undefined) return 'local';
  const [chat = '', topic] = bareId(channel, to).split(/:(?:topic|thread):/);
  const thread = wordAt(where, 'threadId') ?? topic;
  return [accountName(channel, wordAt(where, 'accountId')), chat, ...(thread === undefined ? [] : [thread])].join(':');
};

const refuse = (why: string): never => {
  throw new JobRefused(why);
};

/** Every job waits for its owner: what ran in one program does not begin to run in another by itself, nor beside it. */
const wantedOf = (job: Plain, agents: readonly OpenclawAgent[]): WantedJob => {
  const id = wordAt(job, 'id') ?? wordAt(job, 'jobId') ?? '';
  const agentId = wordAt(job, 'agentId');
  const prompt = wordAt(job, 'payload', 'message') ?? wordAt(job, 'payload', 'text') ?? refuse('it asks nothing of an agent');
  const schedule = scheduleOf(job) ?? refuse('there is no such schedule here; the shortest is a minute');
  return {
    id: createHash('sha256').update(id).digest('hex').slice(0, 12),
    agent: agentId === undefined ? 'main' : (agents.find((each) => each.id === agentId)?.as ?? agentId),
    request: { schedule, prompt, name: wordAt(job, 'name'), deliver: deliverOf(job), zone: wordAt(job, 'schedule', 'tz') },
    origin: undefined,
    dueAtMs: undefined,
    isPaused: true,
    pausedReason: 'it comes from OpenClaw and has not run here yet',
  };
};

interface Options {
  readonly attempt: Attempt;
  readonly report: ImportReport;
  readonly rules: JobRules;
  readonly agents: readonly OpenclawAgent[];
  readonly shared: OpenclawSharedState | undefined;
}

/** Takes scheduled jobs over, each paused. What this gateway would refuse from a person is refused here too. */
export const importJobs = async (folder: string, options: Options): Promise<void> => {
  const { attempt, report, rules, agents } = options;
  for (const job of await readJobs(folder, options.shared, report)) {
    const name = wordAt(job, 'name') ?? wordAt(job, 'id') ?? 'a job';
    try {
      const wanted = wantedOf(job, agents);
      const done = await attempt((tx) => importJob(tx, rules, wanted));
      const result = wanted.request.deliver === 'local' && at(job, 'delivery', 'mode') === 'announce' ? 'its results are only kept, since the place for them is not known here; ' : '';
      if (done === 'known') report.add({ area: 'cron', fate: 'known', what: `${name} (${wanted.id})` });
      else report.add({ area: 'cron', fate: 'changed', what: `${name} (${wanted.id}), paused`, why: `${result}it runs once you say so: hermes cron resume ${wanted.id}` });
    } catch (error) {
      if (!(error instanceof JobRefused)) throw error;
      report.add({ area: 'cron', fate: 'left', what: name, why: error.message });
    }
  }
};
