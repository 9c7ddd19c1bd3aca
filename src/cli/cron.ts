import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ConfigError } from '../core/errors.ts';
import { jobFacts, jobSummary, nextText, runSummary, runText, scheduleText, viewJobs, viewRuns } from '../cron/describe-job.ts';
import type { JobView, RunView } from '../cron/describe-job.ts';
import { JobRefused } from '../cron/job-request.ts';
import type { JobRequest, JobRules } from '../cron/job-request.ts';
import { changeJobAsAsked, createJob, jobCalled, pauseJob, removeJob, resumeJob, runJobNow, stopJob } from '../cron/manage-jobs.ts';
import { localTime } from '../cron/prompt.ts';
import { resolveHome } from '../config/home.ts';
import { jobFolders } from '../gateway/agents/job-folders.ts';
import { printable } from '../lib/printable.ts';
import { isAgent } from '../routing/select-agent.ts';
import { listJobs } from '../store/cron/cron-jobs.ts';
import type { CronJob } from '../store/cron/cron-jobs.ts';
import { listRuns } from '../store/cron/cron-runs.ts';
import type { Store } from '../store/store.ts';
import { configTargets } from './configuration/config-targets.ts';
import { json, paint, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { isHomeTaken } from '../store/locks/home-lock.ts';
import { noteAct } from './note-act.ts';
import type { Act } from './note-act.ts';
import { lookIntoStore, withStore } from './home/open-home.ts';
import { requireConfig } from './configuration/settings.ts';

interface JobFlags {
  readonly schedule?: string;
  readonly prompt?: string;
  readonly name?: string;
  readonly agent?: string;
  readonly deliver?: string;
  readonly failureDeliver?: string;
  readonly skill?: readonly string[];
  readonly script?: string;
  readonly ask?: boolean;
  readonly contextFrom?: readonly string[];
  readonly model?: string;
  readonly toolset?: readonly string[];
  readonly workdir?: string;
  readonly repeat?: number;
  readonly zone?: string;
  readonly missed?: string;
  readonly overlap?: string;
  readonly mirror?: boolean;
  readonly json?: true;
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('a whole number');
  return value;
};

const count = (text: string): number => {
  const value = whole(text);
  if (value < 1 || value > 10_000) throw new InvalidArgumentError('a whole number from 1 to 10000');
  return value;
};

const collect = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];

const requestOf = (flags: JobFlags): JobRequest => ({
  schedule: flags.schedule,
  prompt: flags.prompt,
  name: flags.name,
  deliver: flags.deliver,
  failureDeliver: flags.failureDeliver,
  skills: flags.skill,
  script: flags.script,
  noAgent: flags.ask === undefined ? undefined : !flags.ask,
  contextFrom: flags.contextFrom,
  model: flags.model,
  toolsets: flags.toolset,
  workdir: flags.workdir,
  times: flags.repeat,
  zone: flags.zone,
  missed: flags.missed,
  overlap: flags.overlap,
  mirror: flags.mirror,
});

interface Desk {
  readonly store: Store;
  readonly rules: JobRules;
}

/** Opens the store beside a gateway that may be running. What is refused is printed as it is. */
const atDesk = async (terminal: Terminal, work: (desk: Desk) => Promise<void>, open: typeof withStore = lookIntoStore): Promise<void> => {
  const config = await requireConfig(terminal);
  const rules: JobRules = { targets: configTargets(config), options: () => config.sections.cron, isAgent: (id) => isAgent(config.sections, id), findFolder: jobFolders({ home: resolveHome(terminal.env), userHome: homedir(), settings: () => config.sections }) };
  try {
    await open(terminal, (store) => work({ store, rules }));
  } catch (error) {
    if (error instanceof JobRefused) throw new ConfigError(error.message, { cause: error });
    throw error;
  }
};

const isGatewayThere = (terminal: Terminal): boolean => isHomeTaken(resolveHome(terminal.env));

const printJobs = (terminal: Terminal, views: readonly JobView[]): string => {
  if (views.length === 0) return 'Nothing is scheduled. hermes cron add "every 2h" "Look for new mail" changes that.\n';
  const rows = views.map(({ job, last }) => [job.id, job.name, job.agent, scheduleText(job), nextText(job), job.deliver, last === undefined ? paint(terminal, 'dim', 'not yet') : runText(last)]);
  const note = isGatewayThere(terminal) ? '' : '\nNo gateway runs in this home; jobs wait until one does (hermes gateway run).\n';
  return `${table([['JOB', 'NAME', 'AGENT', 'SCHEDULE', 'NEXT', 'TO', 'LAST'], ...rows])}\n${note}`;
};

/** What a job has said, as a terminal may show it. */
const outputOf = (view: RunView | undefined): string => printable(view?.run.output ?? '').trim();

const printJob = (terminal: Terminal, view: JobView): string => {
  const facts = jobFacts(view);
  const width = Math.max(...facts.map(([name]) => name.length));
  const output = outputOf(view.last);
  const said = output === '' ? '' : `\n${paint(terminal, 'bold', 'Last result')}\n${output}\n`;
  return `${facts.map(([name, value]) => `${paint(terminal, 'bold', name.padEnd(width))}  ${printable(value).replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`).join('\n')}\n${said}`;
};

const tell = async ({ store }: Desk, terminal: Terminal, told: { readonly job: CronJob; readonly flags: { readonly json?: true }; readonly sentence: string }): Promise<void> => {
  const [view] = await store.read((db) => viewJobs(db, [told.job]));
  terminal.write(told.flags.json === true && view !== undefined ? json(jobSummary(view)) : `${printable(told.sentence)}\n`);
};

const named = (job: CronJob): string => `${job.name} (${job.id})`;

const add = (terminal: Terminal, given: { readonly schedule: string; readonly prompt: string | undefined }, flags: JobFlags): Promise<void> =>
  atDesk(terminal, async (desk) => {
    const request = { ...requestOf(flags), schedule: given.schedule, prompt: given.prompt ?? '' };
    const job = await desk.store.write((tx) => createJob(tx, desk.rules, { agent: flags.agent ?? 'main', request }));
    noteAct(resolveHome(terminal.env), 'cron add', named(job));
    const note = isGatewayThere(terminal) ? '' : ' No gateway runs in this home yet: hermes gateway run.';
    await tell(desk, terminal, { job, flags, sentence: `${named(job)} is scheduled: ${scheduleText(job)}, next ${nextText(job)}. Its result goes to ${job.deliver}.${note}` });
  }, withStore);

const edit = (terminal: Terminal, ref: string, flags: JobFlags): Promise<void> =>
  atDesk(terminal, async (desk) => {
    const { id } = await desk.store.read((db) => jobCalled(db, ref, {}));
    const job = await desk.store.write((tx) => changeJobAsAsked(tx, desk.rules, { id, request: requestOf(flags) }));
    noteAct(resolveHome(terminal.env), 'cron edit', named(job));
    await tell(desk, terminal, { job, flags, sentence: `${named(job)} is changed: ${scheduleText(job)}, next ${nextText(job)}.` });
  });

interface Change {
  (desk: Desk, job: CronJob): Promise<{ readonly job: CronJob; readonly sentence: string }>;
}

const changing =
  (terminal: Terminal, act: Act, change: Change) =>
  (ref: string, flags: { readonly json?: true }): Promise<void> =>
    atDesk(terminal, async (desk) => {
      const found = await desk.store.read((db) => jobCalled(db, ref, {}));
      const changed = await change(desk, found);
      noteAct(resolveHome(terminal.env), act, named(found));
      await tell(desk, terminal, { ...changed, flags });
    });

const list = (terminal: Terminal, flags: { readonly agent?: string; readonly all?: true; readonly json?: true }): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const views = await store.read(async (db) => viewJobs(db, await listJobs(db, { completed: flags.all === true, ...(flags.agent !== undefined && { agent: flags.agent }) })));
    terminal.write(flags.json === true ? json(views.map(jobSummary)) : printJobs(terminal, views));
  });

const show = (terminal: Terminal, ref: string, flags: { readonly json?: true }): Promise<void> =>
  atDesk(terminal, async ({ store }) => {
    const [view] = await store.read(async (db) => viewJobs(db, [await jobCalled(db, ref, {})]));
    if (view !== undefined) terminal.write(flags.json === true ? json({ ...jobSummary(view), output: view.last?.run.output ?? null }) : printJob(terminal, view));
  });

const printRuns = (views: readonly RunView[], zones: ReadonlyMap<string, CronJob>): string => {
  if (views.length === 0) return 'Nothing has run yet.\n';
  const rows = views.map((view) => {
    const job = zones.get(view.run.jobId);
    return [String(view.run.id), job?.name ?? view.run.jobId, localTime(view.run.dueAtMs, job?.zone ?? 'UTC'), view.run.cause, runText(view)];
  });
  return `${table([['RUN', 'JOB', 'DUE', 'WHY', 'HOW IT WENT'], ...rows])}\n`;
};

const runs = (terminal: Terminal, ref: string | undefined, flags: { readonly limit: number; readonly output?: true; readonly json?: true }): Promise<void> =>
  atDesk(terminal, async ({ store }) => {
    const { views, jobs } = await store.read(async (db) => {
      const jobId = ref === undefined ? undefined : (await jobCalled(db, ref, {})).id;
      const all = await listJobs(db, { completed: true });
      return { views: await viewRuns(db, await listRuns(db, { limit: flags.limit, ...(jobId !== undefined && { jobId }) })), jobs: new Map(all.map((job) => [job.id, job])) };
    });
    if (flags.json === true) terminal.write(json(views.map((view) => ({ ...runSummary(view), ...(flags.output === true && { output: view.run.output }) }))));
    else if (flags.output === true) terminal.write(views.map((view) => `${printRuns([view], jobs)}\n${outputOf(view)}\n`).join('\n'));
    else terminal.write(printRuns(views, jobs));
  });

/** What a job can be given, when it is made and later. */
const withJobOptions = (command: Command): Command =>
  command
    .option('--name <name>', 'what to call it')
    .option('--deliver <targets>', 'where its result goes: local, telegram, telegram:CHAT, telegram:#name, all; several with commas')
    .option('--failure-deliver <targets>', 'where failures go instead')
    .option('--skill <name>', 'a skill that comes with the question; may be repeated', collect)
    .option('--script <file>', 'a file below the agent’s scripts folder that runs first')
    .option('--ask', 'the agent is asked after the script')
    .option('--no-ask', 'the output of the script is the result, and nobody is asked')
    .option('--context-from <job>', 'a job whose last result comes with the question; may be repeated', collect)
    .option('--model <name>', 'the model that answers')
    .option('--toolset <name>', 'the only toolsets that it has; may be repeated', collect)
    .option('--workdir <folder>', 'the folder that its script and its agent work in, as an absolute path')
    .option('--repeat <n>', 'how often it runs; 0 for no end', whole)
    .option('--zone <zone>', 'time zone of the schedule, such as Europe/Berlin')
    .option('--missed <policy>', 'runs missed while no gateway ran: once, skip or all(n)')
    .addOption(new Option('--overlap <policy>', 'a run that is due while an earlier one goes on').choices(['skip', 'queue', 'parallel']))
    .option('--mirror', 'its result also becomes part of the conversation at the place it goes to')
    .option('--no-mirror', 'it does not')
    .option('--json', 'print JSON');

const examples = `
Schedules: "30m" or "in 30m" (once), "every 30m", "0 9 * * 1-5", "2026-04-01 08:30"

Examples:
  hermes cron add "0 9 * * 1-5" "Tell me what is on today" --deliver telegram
  hermes cron add "every 30m" --script check-disk.sh --no-ask --deliver telegram
  hermes cron list
  hermes cron edit 3f2a --schedule "0 8 * * *"
  hermes cron runs 3f2a --output`;

export const cronCommand = (terminal: Terminal): Command => {
  const command = new Command('cron').description('Jobs that ask the agent at certain times').addHelpText('after', examples);
  const job = ['<job>', 'id, beginning of an id, or name'] as const;
  command.command('list', { isDefault: true }).description('What is scheduled').option('--agent <id>', 'only of this agent').option('--all', 'also what has had all its runs').option('--json', 'print JSON').action((flags: { agent?: string; all?: true; json?: true }) => list(terminal, flags));
  withJobOptions(command.command('add').alias('create').description('Schedule a job').argument('<schedule>').argument('[question]', 'what the agent is asked').option('--agent <id>', 'the agent that it belongs to'))
    .action((schedule: string, prompt: string | undefined, flags: JobFlags) => add(terminal, { schedule, prompt }, flags));
  withJobOptions(command.command('edit').description('Change what is named; an empty value takes something away').argument(...job).option('--schedule <schedule>', 'when it runs').option('--prompt <question>', 'what the agent is asked'))
    .action((ref: string, flags: JobFlags) => edit(terminal, ref, flags));
  command.command('show').description('Everything about a job, and its last result').argument(...job).option('--json', 'print JSON').action((ref: string, flags: { json?: true }) => show(terminal, ref, flags));
  const verb = (name: 'pause' | 'resume' | 'run' | 'stop' | 'remove', about: string, change: Change): Command => command.command(name).description(about).argument(...job).option('--json', 'print JSON').action(changing(terminal, `cron ${name}`, change));
  verb('pause', 'Let a job rest', async ({ store }, found) => ({ job: await store.write((tx) => pauseJob(tx, found.id)), sentence: `${named(found)} is paused until hermes cron resume ${found.id}.` }));
  verb('resume', 'Let a job go on', async ({ store }, found) => {
    const resumed = await store.write((tx) => resumeJob(tx, found.id));
    return { job: resumed, sentence: `${named(resumed)} goes on, next ${nextText(resumed)}.` };
  });
  verb('run', 'Run a job now, beside its schedule', async ({ store }, found) => {
    await store.write((tx) => runJobNow(tx, found.id, `cli:${randomUUID()}`));
    return { job: found, sentence: `${named(found)} runs ${isGatewayThere(terminal) ? 'now' : 'as soon as a gateway does (hermes gateway run)'}; its result goes to ${found.deliver}.` };
  });
  verb('stop', 'End what runs of a job', async ({ store }, found) => ({ job: found, sentence: (await store.write((tx) => stopJob(tx, found.id))) === 0 ? `${named(found)} is not running.` : `${named(found)} is stopped.` }));
  verb('remove', 'Remove a job for good', async ({ store }, found) => {
    await store.write((tx) => removeJob(tx, found.id));
    return { job: { ...found, state: 'removed', nextAtMs: null }, sentence: `${named(found)} is gone.` };
  }).alias('rm');
  command
    .command('runs')
    .description('What has run, newest first')
    .argument('[job]', job[1])
    .option('--limit <n>', 'how many', count, 20)
    .option('--output', 'with what each said')
    .option('--json', 'print JSON')
    .action((ref: string | undefined, flags: { limit: number; output?: true; json?: true }) => runs(terminal, ref, flags));
  return command;
};
