import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ChatType, Target } from '../../core/message.ts';
import { JobRefused } from '../../cron/job-request.ts';
import type { JobRequest, JobRules } from '../../cron/job-request.ts';
import type { JobOrigin } from '../../store/cron/cron-jobs.ts';
import { importJob } from '../import-job.ts';
import type { WantedJob } from '../import-job.ts';
import type { ImportLine, ImportReport } from '../import-report.ts';
import { parsed } from '../plain-json.ts';
import type { Attempt } from '../try-out.ts';

const words = z.preprocess((value) => (typeof value === 'string' ? [value] : (value ?? undefined)), z.array(z.string()).optional().catch(undefined));
const text = z.preprocess((value) => (typeof value === 'number' ? String(value) : value === '' || value === null ? undefined : value), z.string().optional().catch(undefined));

const jobSchema = z.object({
  id: z.string(),
  name: text,
  prompt: text,
  skills: words,
  skill: text,
  model: text,
  script: text,
  no_agent: z.boolean().catch(false),
  context_from: words,
  enabled_toolsets: words,
  attach_to_session: z.boolean().optional().catch(undefined),
  provider: text,
  base_url: text,
  workdir: text,
  schedule: z.object({ kind: z.enum(['once', 'interval', 'cron']), run_at: text, minutes: z.number().optional().catch(undefined), expr: text }),
  repeat: z.object({ times: z.number().nullish(), completed: z.number().catch(0).default(0) }).optional().catch(undefined),
  enabled: z.boolean().catch(true).default(true),
  state: text,
  paused_reason: text,
  next_run_at: text,
  deliver: z.union([z.string(), z.array(z.string())]).optional().catch(undefined),
  origin: z.object({ platform: text, chat_id: text, thread_id: text, chat_type: text, user_id: text, user_name: text }).optional().catch(undefined),
});

type OriginalJob = z.output<typeof jobSchema>;

/** `{jobs: […]}`, or the bare list of early versions. */
const readJobs = async (folder: string, report: ImportReport): Promise<readonly OriginalJob[]> => {
  const written = await readFile(join(folder, 'cron', 'jobs.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]';
    throw error;
  });
  const content = parsed(written.replace(/^\uFEFF/, '').replaceAll(/\p{Cc}/gu, ' '));
  const list = z.union([z.array(z.unknown()), z.object({ jobs: z.array(z.unknown()) }).transform(({ jobs }) => jobs)]).safeParse(content);
  if (!list.success) {
    report.add({ area: 'cron', fate: 'left', what: 'cron/jobs.json', why: 'it is not the list of jobs that it should be' });
    return [];
  }
  return list.data.flatMap((entry) => {
    const job = jobSchema.safeParse(entry);
    if (job.success) return [job.data];
    report.add({ area: 'cron', fate: 'left', what: 'a job', why: `it cannot be understood (${job.error.issues.map(({ path }) => path.join('.')).join(', ')})` });
    return [];
  });
};

const scheduleOf = ({ schedule }: OriginalJob): string | undefined => {
  switch (schedule.kind) {
    case 'once':
      return schedule.run_at;
    case 'interval':
      return schedule.minutes === undefined ? undefined : `every ${schedule.minutes}m`;
    case 'cron':
      return schedule.expr;
    default:
      return schedule.kind satisfies never;
  }
};

const chatTypeOf = (origin: NonNullable<OriginalJob['origin']>): ChatType => {
  const known = (['dm', 'group', 'channel', 'thread'] as const).find((type) => type === origin.chat_type);
  return known ?? (origin.chat_id === origin.user_id ? 'dm' : 'group');
};

const originOf = ({ origin }: OriginalJob): JobOrigin | undefined => {
  if (origin?.platform === undefined || origin.chat_id === undefined || origin.platform === 'local' || origin.platform === 'cli') return undefined;
  const target: Target = { account: origin.platform, chatId: origin.chat_id, chatType: chatTypeOf(origin), ...(origin.thread_id !== undefined && { threadId: origin.thread_id }) };
  return { target, ...(origin.user_id !== undefined && { userId: origin.user_id }), ...(origin.user_name !== undefined && { userName: origin.user_name }) };
};

const requestOf = (job: OriginalJob, origin: JobOrigin | undefined): JobRequest => {
  const left = job.repeat?.times == null ? undefined : job.repeat.times - job.repeat.completed;
  return {
    schedule: scheduleOf(job),
    prompt: job.prompt ?? '',
    name: job.name,
    skills: [...(job.skills ?? []), ...(job.skill === undefined ? [] : [job.skill])],
    script: job.script,
    noAgent: job.no_agent,
    contextFrom: job.context_from ?? [],
    model: job.model,
    toolsets: job.enabled_toolsets ?? [],
    workdir: job.workdir,
    mirror: job.attach_to_session,
    deliver: origin === undefined && job.deliver === 'origin' ? 'local' : job.deliver,
    ...(job.schedule.kind !== 'once' && left !== undefined && { times: left }),
  };
};

interface Options {
  readonly attempt: Attempt;
  readonly report: ImportReport;
  readonly rules: JobRules;
  readonly agent: string;
}

const wantedOf = (job: OriginalJob, agent: string): WantedJob => {
  const origin = originOf(job);
  const nextMs = Date.parse(job.next_run_at ?? '');
  return { id: job.id, agent, request: requestOf(job, origin), origin, dueAtMs: Number.isFinite(nextMs) ? nextMs : undefined, isPaused: !job.enabled || job.state === 'paused', pausedReason: job.paused_reason };
};

/** A job here has the provider of its agent. */
const fateOf = (job: OriginalJob, folder: string | undefined): Pick<ImportLine, 'fate' | 'why'> => {
  const lost = (['provider', 'base_url'] as const).filter((key) => job[key] !== undefined);
  const changes = [
    ...(lost.length === 0 ? [] : [`it has no ${lost.join(', ')} of its own here`]),
    ...(folder === undefined ? [] : [`it waits for a folder: ${folder} Then: hermes cron edit ${job.id} --workdir FOLDER, and hermes cron resume ${job.id}`]),
  ];
  return changes.length === 0 ? { fate: 'taken' } : { fate: 'changed', why: changes.join('; ') };
};

/** Why a job cannot work where it worked; it does not begin to work elsewhere by itself. */
const missingFolder = async ({ workdir }: OriginalJob, { rules, agent }: Options): Promise<string | undefined> => {
  const found = workdir === undefined ? undefined : await rules.findFolder(agent, workdir);
  return found?.type === 'problem' ? found.problem : undefined;
};

const withoutFolder = (wanted: WantedJob): WantedJob => ({ ...wanted, request: { ...wanted.request, workdir: undefined }, isPaused: true, pausedReason: wanted.pausedReason ?? 'its folder cannot be used here' });

/** Takes scheduled jobs over, with their ids, so that none is taken twice. What this gateway would refuse from a person is refused here too. */
export const importJobs = async (folder: string, options: Options): Promise<void> => {
  const { attempt, report } = options;
  for (const job of await readJobs(folder, report)) {
    const what = `${job.name ?? job.prompt?.slice(0, 50) ?? 'job'} (${job.id})`;
    if (job.state === 'completed') {
      report.add({ area: 'cron', fate: 'left', what, why: 'it has had all its runs' });
      continue;
    }
    try {
      const folder = await missingFolder(job, options);
      const wanted = wantedOf(job, options.agent);
      const done = await attempt((tx) => importJob(tx, options.rules, folder === undefined ? wanted : withoutFolder(wanted)));
      if (done === 'known') report.add({ area: 'cron', fate: 'known', what });
      else report.add({ area: 'cron', ...fateOf(job, folder), what: `${what}${done === 'paused' ? ', paused' : ''}` });
    } catch (error) {
      if (!(error instanceof JobRefused)) throw error;
      report.add({ area: 'cron', fate: 'left', what, why: error.message });
    }
  }
};
