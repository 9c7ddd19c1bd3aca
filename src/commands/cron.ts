import { auditedJob, jobFacts, nextText, runText, scheduleText, viewJobs, viewRuns } from '../cron/describe-job.ts';
import type { JobView, RunView } from '../cron/describe-job.ts';
import { deliverText, JobRefused } from '../cron/job-request.ts';
import type { JobRequest, JobRules } from '../cron/job-request.ts';
import { changeJobAsAsked, createJob, jobCalled, pauseJob, removeJob, resumeJob, runJobNow, stopJob } from '../cron/manage-jobs.ts';
import type { JobSight } from '../cron/manage-jobs.ts';
import { localTime } from '../cron/prompt.ts';
import { ownZone, readSchedule } from '../cron/schedule.ts';
import { replyTarget } from '../core/message.ts';
import { resolveTarget } from '../delivery/resolve-target.ts';
import { listJobs } from '../store/cron/cron-jobs.ts';
import type { CronJob, JobOrigin } from '../store/cron/cron-jobs.ts';
import { listRuns } from '../store/cron/cron-runs.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';

const mostListed = 30;
const mostRuns = 10;
const shownOutput = 1_500;

const usage = [
  'Usage:',
  '`/cron` — what is scheduled',
  '`/cron add every 2h Look for new mail` — also `in 30m`, `0 9 * * 1-5` or `2026-04-01 08:30`',
  '`/cron show|pause|resume|run|stop|runs|remove <job>`',
  '`/cron edit <job> <schedule|prompt|name|deliver|skills|script|workdir|model|repeat|timezone|missed|overlap> <value>`',
].join('\n');

const fields: Readonly<Record<string, (value: string) => JobRequest>> = {
  schedule: (value) => ({ schedule: value }),
  prompt: (value) => ({ prompt: value }),
  name: (value) => ({ name: value }),
  deliver: (value) => ({ deliver: value }),
  failures: (value) => ({ failureDeliver: value }),
  skills: (value) => ({ skills: value.split(',') }),
  script: (value) => ({ script: value }),
  workdir: (value) => ({ workdir: value }),
  model: (value) => ({ model: value }),
  repeat: (value) => ({ times: Number(value) }),
  timezone: (value) => ({ zone: value }),
  missed: (value) => ({ missed: value }),
  overlap: (value) => ({ overlap: value }),
};

/** Everybody sees and changes what they have had made; whoever decides for others, every job of the agent. */
const sightOf = (call: CommandCall): JobSight => ({ agent: call.agent, ...(!call.access.mayAdminister && { madeBy: { account: call.event.account, userId: call.event.sender.id } }) });

const originOf = ({ event }: CommandCall): JobOrigin => ({ target: replyTarget(event), userId: event.sender.id, ...(event.sender.name !== undefined && { userName: event.sender.name }) });

const line = (view: JobView): string => {
  const { job, last } = view;
  return `- **${job.name}** \`${job.id}\`, ${scheduleText(job)}, next ${nextText(job)}${last === undefined ? '' : `, last ${runText(last)}`}`;
};

const list = async (tx: Writing, call: CommandCall): Promise<string> => {
  const { agent, madeBy } = sightOf(call);
  const jobs = await listJobs(tx, { completed: false, ...(agent !== undefined && { agent }), ...(madeBy !== undefined && { madeBy }) });
  if (jobs.length === 0) return 'Nothing is scheduled. `/cron add every 2h Look for new mail` changes that.';
  const more = jobs.length > mostListed ? [`and ${jobs.length - mostListed} more`] : [];
  return ['**Scheduled**', ...(await viewJobs(tx, jobs.slice(0, mostListed))).map(line), ...more].join('\n');
};

const show = async (tx: Writing, job: CronJob): Promise<string> => {
  const [view] = await viewJobs(tx, [job]);
  if (view === undefined) return '';
  const output = view.last?.run.output?.trim() ?? '';
  const said = output === '' ? [] : ['', '**Last result**', output.length > shownOutput ? `${output.slice(0, shownOutput).toWellFormed()}…` : output];
  return [...jobFacts(view).map(([name, value]) => `**${name}** ${value}`), ...said].join('\n');
};

const runLine = (job: CronJob, view: RunView): string => `- #${view.run.id} ${localTime(view.run.dueAtMs, job.zone)}: ${runText(view)}`;

const runs = async (tx: Writing, job: CronJob): Promise<string> => {
  const views = await viewRuns(tx, await listRuns(tx, { jobId: job.id, limit: mostRuns }));
  return views.length === 0 ? `${job.name} has not run yet.` : [`**${job.name}**`, ...views.map((view) => runLine(job, view))].join('\n');
};

/** The schedule at the beginning of a text: in quotes, or as many of the first words as make one. */
const splitSchedule = (text: string, at: { readonly zone: string; readonly nowMs: number }): { readonly schedule: string; readonly rest: string } => {
  const [, quoted, after] = /^["“]([^"”]*)["”]\s*(.*)$/s.exec(text) ?? [];
  if (quoted !== undefined) return { schedule: quoted, rest: after ?? '' };
  const words = [...text.matchAll(/\S+/g)];
  for (const word of words.slice(0, 5).toReversed()) {
    const end = word.index + word[0].length;
    if (readSchedule(text.slice(0, end), at).type === 'schedule') return { schedule: text.slice(0, end), rest: text.slice(end).trim() };
  }
  return { schedule: words[0]?.[0] ?? '', rest: '' };
};

const add = async (tx: Writing, call: CommandCall, rules: JobRules, text: string): Promise<string> => {
  const { schedule, rest } = splitSchedule(text, { zone: rules.options().timezone ?? ownZone(), nowMs: call.nowMs });
  const job = await createJob(tx, rules, { agent: call.agent, origin: originOf(call), request: { schedule, prompt: rest } });
  call.acted({ act: '/cron add', subject: auditedJob(job) });
  return `⏰ **${job.name}** \`${job.id}\` is scheduled, ${scheduleText(job)}; next ${nextText(job)}.`;
};

/** A chat that nobody has written from or written down may belong to anybody: only who decides for others has results sent there. */
const checkStrangers = async (tx: Writing, call: CommandCall, rules: JobRules, { deliver, failureDeliver }: JobRequest): Promise<void> => {
  if (call.access.mayAdminister) return;
  for (const written of [deliver, failureDeliver]) {
    if (written === undefined) continue;
    const { destinations } = await resolveTarget(tx, rules.targets, { text: deliverText(written), origin: replyTarget(call.event) });
    if (destinations.some((to) => to.type === 'chat' && !to.known)) throw new JobRefused('Nobody has written to me from there, and only admins may have results sent to such a place.');
  }
};

const edit = async (tx: Writing, call: CommandCall, rules: JobRules, given: { readonly job: CronJob; readonly text: string }): Promise<string> => {
  const { job, text } = given;
  const [, field = '', value = ''] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
  const change = fields[field.toLowerCase()];
  if (change === undefined) return usage;
  const request = change(value);
  await checkStrangers(tx, call, rules, request);
  const changed = await changeJobAsAsked(tx, rules, { id: job.id, request, sight: sightOf(call) });
  call.acted({ act: '/cron edit', subject: auditedJob(changed) });
  return `✅ **${changed.name}** \`${changed.id}\`, ${scheduleText(changed)}; next ${nextText(changed)}.`;
};

/** The job that is named first, and what is said about it. A name of several words stands in quotes, unless nothing follows it. */
const splitJob = (text: string, alone: boolean): { readonly ref: string; readonly rest: string } => {
  const [, quoted, after] = /^["“]([^"”]*)["”]\s*(.*)$/s.exec(text) ?? [];
  if (quoted !== undefined) return { ref: quoted, rest: after ?? '' };
  if (alone) return { ref: text, rest: '' };
  const [, ref = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
  return { ref, rest };
};

const about = async (tx: Writing, call: CommandCall, rules: JobRules, given: { readonly verb: string; readonly text: string }): Promise<string> => {
  const { ref, rest } = splitJob(given.text, given.verb !== 'edit');
  if (ref === '') return usage;
  const job = await jobCalled(tx, ref, sightOf(call));
  const name = `**${job.name}** \`${job.id}\``;
  const acted = (): void => call.acted({ act: `/cron ${given.verb}`, subject: auditedJob(job) });
  switch (given.verb) {
    case 'show':
      return show(tx, job);
    case 'runs':
      return runs(tx, job);
    case 'edit':
      return edit(tx, call, rules, { job, text: rest });
    case 'pause':
      await pauseJob(tx, job.id);
      acted();
      return `⏸ ${name} is paused until \`/cron resume ${job.id}\`.`;
    case 'resume': {
      const resumed = await resumeJob(tx, job.id);
      acted();
      return `▶️ ${name} goes on; next ${nextText(resumed)}.`;
    }
    case 'run':
      await runJobNow(tx, job.id, `command:${call.inboxId}`);
      acted();
      return `▶️ ${name} runs now. Its result goes to ${job.deliver}.`;
    case 'stop':
      if ((await stopJob(tx, job.id)) === 0) return `${name} is not running.`;
      acted();
      return `⏹ ${name} is stopped.`;
    case 'remove':
      await removeJob(tx, job.id);
      acted();
      return `🗑️ ${name} is gone.`;
    default:
      return usage;
  }
};

const verbs: Readonly<Record<string, string>> = { create: 'add', delete: 'remove', rm: 'remove', ls: 'list' };

const readCall = (text: string): { readonly verb: string; readonly text: string } => {
  const [, word = 'list', rest = ''] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
  const verb = word.toLowerCase();
  return { verb: verbs[verb] ?? verb, text: rest.trim() };
};

export const cron: Command = {
  name: 'cron',
  aliases: [],
  category: 'Tools',
  description: 'See and change what is scheduled',
  args: '[list | add <schedule> <question> | show|edit|pause|resume|run|stop|runs|remove <job>]',
  whileRunning: 'allowed',
  async confirm(tx, call) {
    const { verb, text } = readCall(call.args);
    if (verb !== 'remove' || text === '') return undefined;
    try {
      const job = await jobCalled(tx, splitJob(text, true).ref, sightOf(call));
      return `Remove the scheduled job **${job.name}** \`${job.id}\` for good?`;
    } catch (error) {
      // What is wrong with it is said when it is carried out.
      if (error instanceof JobRefused) return undefined;
      throw error;
    }
  },
  async run(tx, call) {
    const rules = call.reach.cron;
    if (rules === undefined) return 'Nothing can be scheduled here.';
    const given = readCall(call.args);
    try {
      if (given.verb === 'list') return await list(tx, call);
      if (given.verb === 'add') return given.text === '' ? usage : await add(tx, call, rules, given.text);
      return await about(tx, call, rules, given);
    } catch (error) {
      if (error instanceof JobRefused) return `⛔ ${error.message}`;
      throw error;
    }
  },
};
