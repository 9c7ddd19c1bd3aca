import { z } from 'zod';
import { auditedJob, jobSummary, viewJobs } from '../../cron/describe-job.ts';
import { deliverText, JobRefused } from '../../cron/job-request.ts';
import type { JobRequest, JobRules } from '../../cron/job-request.ts';
import { changeJobAsAsked, createJob, jobCalled, pauseJob, removeJob, resumeJob, runJobNow } from '../../cron/manage-jobs.ts';
import type { JobSight } from '../../cron/manage-jobs.ts';
import { localTime } from '../../cron/prompt.ts';
import { printPlace } from '../../cron/print-place.ts';
import { resolveTarget } from '../../delivery/resolve-target.ts';
import { listJobs } from '../../store/cron/cron-jobs.ts';
import type { CronJob, JobOrigin } from '../../store/cron/cron-jobs.ts';
import type { AuditedAct } from '../../lib/audit-log.ts';
import type { Store } from '../../store/store.ts';
import type { Approver } from '../approvals/contract.ts';
import { ToolError } from './contract.ts';
import type { Tool, ToolContext } from './contract.ts';
import { defineTool } from './define-tool.ts';

export interface CronjobDeps {
  readonly store: Store;
  readonly rules: JobRules;
  readonly approve: Approver;
  /** Whether this person decides about every job of the agent; others see and change those that they have had made. */
  isOwner(person: { readonly account: string; readonly userId: string }): boolean;
  /** Writes down what the agent has done to a job, and for whom. */
  audit(act: AuditedAct): void;
}

const names = z.array(z.string().trim().min(1).max(200)).max(10);

const args = z.object({
  action: z.enum(['create', 'list', 'update', 'pause', 'resume', 'run', 'remove']),
  job_id: z.string().trim().max(100).optional().describe('The job, by id or by a name that only it has; for everything but create and list.'),
  schedule: z.string().trim().max(100).optional().describe('"30m" or "in 30m" (once), "every 30m", a cron expression with five fields and numbers such as "0 9 * * 1-5", or a time such as "2026-04-01T08:30".'),
  prompt: z.string().max(20_000).optional().describe('What you are asked when the job runs. You will have nothing but this text: it has to say everything, and it cannot ask back.'),
  name: z.string().trim().max(100).optional().describe('What people call the job.'),
  repeat: z.int().optional().describe('How often it runs; left out or 0 for no end.'),
  timezone: z.string().trim().max(60).optional().describe('Zone of the schedule, such as Europe/Berlin, when it is not the usual one.'),
  deliver: z.string().trim().max(1000).optional().describe('Where the result goes: origin (this chat, if you say nothing), local (only kept), a platform (its home channel), platform:chat_id, platform:#name, all; several with commas.'),
  failure_deliver: z.string().trim().max(1000).optional().describe('Where failures go instead.'),
  skills: names.optional().describe('Skills whose instructions come with the prompt.'),
  script: z.string().trim().max(200).optional().describe('A file below the scripts folder that runs first; what it writes comes with the prompt. When its last line is {"wakeAgent": false}, you are not asked.'),
  no_agent: z.boolean().optional().describe('The output of the script is the result; you are not asked.'),
  context_from: names.optional().describe('Jobs whose last result comes with the prompt.'),
  enabled_toolsets: names.optional().describe('The only toolsets that the job has.'),
  workdir: z.string().trim().max(1000).optional().describe('Absolute path of an existing folder that the script runs in and you work in, with the instructions for its project (AGENTS.md); left out for your workspace.'),
  missed: z.string().trim().max(20).optional().describe('Runs whose time passed while no gateway ran: once (one for all of them), skip, or all(n).'),
  overlap: z.enum(['skip', 'queue', 'parallel']).optional().describe('A run that is due while an earlier one goes on.'),
  attach_to_session: z.boolean().optional().describe('The result also becomes part of the conversation at the place it goes to.'),
  paused_reason: z.string().trim().max(200).optional().describe('For pause: why.'),
});

type Args = z.output<typeof args>;

interface Work {
  readonly deps: CronjobDeps;
  readonly context: ToolContext;
  readonly args: Args;
  readonly signal: AbortSignal;
}

const requestOf = (asked: Args): JobRequest => ({
  schedule: asked.schedule,
  prompt: asked.prompt,
  name: asked.name,
  times: asked.repeat,
  zone: asked.timezone,
  deliver: asked.deliver,
  failureDeliver: asked.failure_deliver,
  skills: asked.skills,
  script: asked.script,
  noAgent: asked.no_agent,
  contextFrom: asked.context_from,
  toolsets: asked.enabled_toolsets,
  workdir: asked.workdir,
  missed: asked.missed,
  overlap: asked.overlap,
  mirror: asked.attach_to_session,
});

const sightOf = ({ deps, context }: Work): JobSight => {
  const { agent, target, sender } = context.place;
  const person = { account: target.account, userId: sender?.id ?? '' };
  return deps.isOwner(person) ? { agent } : { agent, madeBy: person };
};

const originOf = ({ target, sender }: ToolContext['place']): JobOrigin => ({ target, ...(sender !== undefined && { userId: sender.id, ...(sender.name !== undefined && { userName: sender.name }) }) });

/** A chat that nobody has written from or written down may belong to anybody: whoever the agent works for is asked before the job is made. */
const askAboutStrangers = async ({ deps, context, args: asked, signal }: Work): Promise<void> => {
  for (const written of [asked.deliver, asked.failure_deliver]) {
    if (written === undefined) continue;
    const { destinations } = await deps.store.read((db) => resolveTarget(db, deps.rules.targets, { text: deliverText(written), origin: context.place.target }));
    for (const to of destinations) {
      if (to.type !== 'chat' || to.known) continue;
      const request = { tool: 'cronjob', subject: printPlace(to.target), reasons: ['will write to a chat that is not in the directory'], pattern: `send to ${to.target.account}`, widest: 'session' } as const;
      const verdict = await deps.approve(request, context, signal);
      if (!verdict.allowed) throw new ToolError('unavailable', `The job was not changed, for it may not write to ${printPlace(to.target)}: ${verdict.reason}`);
    }
  }
};

const answer = async ({ deps }: Work, job: CronJob, said?: string): Promise<string> => {
  const [view] = await deps.store.read((db) => viewJobs(db, [job]));
  const next = job.nextAtMs === null ? undefined : localTime(job.nextAtMs, job.zone);
  return JSON.stringify({ success: true, ...(said !== undefined && { note: said }), ...(view !== undefined && { job: { ...jobSummary(view), ...(next !== undefined && { next_run_local: next }) } }) });
};

const note = ({ deps, context }: Work, act: string, job: CronJob): void => {
  const { agent, target, sender } = context.place;
  deps.audit({ by: `agent ${agent} for ${target.account}:${sender?.id ?? target.chatId}`, act: `cron ${act}`, subject: auditedJob(job) });
};

const list = async (work: Work): Promise<string> => {
  const { agent, madeBy } = sightOf(work);
  const views = await work.deps.store.read(async (db) => viewJobs(db, await listJobs(db, { completed: false, ...(agent !== undefined && { agent }), ...(madeBy !== undefined && { madeBy }) })));
  return JSON.stringify({ jobs: views.map(jobSummary) });
};

const create = async (work: Work): Promise<string> => {
  const { deps, context, args: asked } = work;
  await askAboutStrangers(work);
  const job = await deps.store.write((tx) => createJob(tx, deps.rules, { agent: context.place.agent, origin: originOf(context.place), request: requestOf(asked), sight: sightOf(work) }));
  note(work, 'add', job);
  return answer(work, job, `It is due ${job.nextAtMs === null ? 'never' : localTime(job.nextAtMs, job.zone)}.`);
};

type Change = Exclude<Args['action'], 'create' | 'list'>;

/** Answers the job as it is afterwards; as it was, when it runs or is gone. */
const carryOut = async (work: Work, action: Change, found: CronJob): Promise<CronJob> => {
  const { deps, context, args: asked } = work;
  const { store } = deps;
  switch (action) {
    case 'update':
      return store.write((tx) => changeJobAsAsked(tx, deps.rules, { id: found.id, request: requestOf(asked), sight: sightOf(work) }));
    case 'pause':
      return store.write((tx) => pauseJob(tx, found.id, asked.paused_reason));
    case 'resume':
      return store.write((tx) => resumeJob(tx, found.id));
    case 'run':
      await store.write((tx) => runJobNow(tx, found.id, `${context.turnId}:${context.callId}`));
      return found;
    case 'remove':
      await store.write((tx) => removeJob(tx, found.id));
      return found;
    default:
      throw action satisfies never;
  }
};

const change = async (work: Work, action: Change): Promise<string> => {
  const found = await work.deps.store.read((db) => jobCalled(db, work.args.job_id ?? '', sightOf(work)));
  if (action === 'update') await askAboutStrangers(work);
  const job = await carryOut(work, action, found);
  note(work, action === 'update' ? 'edit' : action, job);
  if (action === 'remove') return JSON.stringify({ success: true, note: `The job ${found.id} is gone.` });
  return answer(work, job, ...(action === 'run' ? [`It runs now, beside this conversation. Its result goes to ${found.deliver} by itself; you will not see it here.`] : []));
};

const perform = (work: Work): Promise<string> => {
  const { action } = work.args;
  if (action === 'list') return list(work);
  return action === 'create' ? create(work) : change(work, action);
};

/** Lets the agent schedule work for itself, for the person it works for. */
export const cronjobTool = (deps: CronjobDeps): Tool =>
  defineTool({
    name: 'cronjob',
    description:
      'Schedules work for later or again and again, and manages what is scheduled: create, list, update, pause, resume, run (now), remove. When a job runs you are asked its prompt in a new conversation without anybody there, and your answer is delivered by itself. Answer [SILENT] there when there is nothing to report.',
    args,
    async run(asked, context, signal) {
      try {
        return await perform({ deps, context, args: asked, signal });
      } catch (error) {
        if (error instanceof JobRefused) throw new ToolError('bad_arguments', error.message, { cause: error });
        throw error;
      }
    },
  });
