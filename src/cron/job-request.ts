import { findingsText, scanForInjection } from '../agent/injection-scan.ts';
import { isToolset } from '../agent/tools/toolsets.ts';
import type { ResolveDeps } from '../delivery/resolve-target.ts';
import { resolveTarget } from '../delivery/resolve-target.ts';
import type { JobOrigin, JobSettings, OverlapPolicy } from '../store/cron/cron-jobs.ts';
import type { Reading } from '../store/store.ts';
import type { CronOptions } from './options.ts';
import { mostCaughtUp, readMissedPolicy } from './plan-runs.ts';
import { isScriptName } from './run-script.ts';
import { isZone, ownZone, readSchedule } from './schedule.ts';

/** Why a job cannot be as somebody wants it, in words that name the fix. */
export class JobRefused extends Error {}

/** What somebody wants of a job, as they wrote it. What is left out stays as it is; an empty text or list takes away what can be taken away. */
export interface JobRequest {
  readonly schedule?: string | undefined;
  readonly prompt?: string | undefined;
  readonly name?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly script?: string | undefined;
  readonly noAgent?: boolean | undefined;
  /** Jobs by id. */
  readonly contextFrom?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly toolsets?: readonly string[] | undefined;
  /** Absolute, or below `~`. */
  readonly workdir?: string | undefined;
  readonly deliver?: string | readonly string[] | undefined;
  readonly failureDeliver?: string | readonly string[] | undefined;
  readonly mirror?: boolean | undefined;
  /** How often it runs; zero or less for no end. */
  readonly times?: number | undefined;
  readonly zone?: string | undefined;
  readonly missed?: string | undefined;
  readonly overlap?: string | undefined;
}

/** A folder that an agent may work in: as it is kept, and where it really is. Or why it cannot be that, in a sentence that names the fix. */
export type FoundFolder = { readonly type: 'found'; readonly path: string; readonly real: string } | { readonly type: 'problem'; readonly problem: string };

/** What is known about the gateway that a job is for. */
export interface JobRules {
  readonly targets: ResolveDeps;
  options(): CronOptions;
  isAgent(id: string): boolean;
  /** Left out where nobody knows. */
  readonly hasSkill?: (agent: string, name: string) => boolean;
  /** Whether the jobs of an agent may work in this folder. */
  findFolder(agent: string, written: string): Promise<FoundFolder>;
}

const longestName = 50;
const longestPrompt = 20_000;
const mostListed = 10;
const overlaps: readonly OverlapPolicy[] = ['skip', 'queue', 'parallel'];

const refuse = (reason: string): never => {
  throw new JobRefused(reason);
};

const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\s"“”]+/gu, ' ').trim().slice(0, longestName).trim().toWellFormed();

/** `local` where nothing is written. */
export const deliverText = (written: string | readonly string[] | null | undefined): string => {
  const text = (typeof written === 'string' ? [written] : (written ?? [])).map((part) => part.trim()).filter((part) => part !== '').join(',');
  return text === '' ? 'local' : text;
};

const checkPrompt = (prompt: string): string => {
  const text = prompt.trim();
  if (text.length > longestPrompt) refuse(`The question is longer than ${longestPrompt} characters. Put what it needs into a skill.`);
  const findings = scanForInjection(text, 'strict');
  if (findings.length > 0) refuse(`The question is not accepted because it ${findingsText(findings)}. Say it in other words.`);
  return text;
};

const checkList = (what: string, names: readonly string[], isKnown: (name: string) => boolean): readonly string[] => {
  const list = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
  if (list.length > mostListed) refuse(`A job has at most ${mostListed} ${what}s.`);
  const unknown = list.find((name) => !isKnown(name));
  return unknown === undefined ? list : refuse(`There is no ${what} ${JSON.stringify(unknown.slice(0, 60))}.`);
};

export interface Requested {
  readonly agent: string;
  readonly request: JobRequest;
  readonly origin: JobOrigin | undefined;
  /** The job as it is, when it is changed. */
  readonly before?: JobSettings;
  readonly nowMs: number;
}

/** Where results go, checked when it is said and not when something else is changed. A job that is made where nothing can be sent later keeps them. */
const deliveryOf = async (db: Reading, rules: JobRules, { request, before, origin }: Requested): Promise<Pick<JobSettings, 'deliver' | 'failureDeliver'>> => {
  const isReached = origin !== undefined && rules.targets.account(origin.target.account) !== undefined;
  const check = async (text: string): Promise<string> => {
    if (origin !== undefined && !isReached && text.split(',').some((part) => part.trim().toLowerCase() === 'origin')) refuse('Nothing can be delivered to where this comes from. Write local, or name a place such as telegram.');
    const { problems } = await resolveTarget(db, rules.targets, { text, origin: origin?.target });
    return problems.length === 0 ? text : refuse(`That cannot be delivered: ${problems.join('; ')}.`);
  };
  const deliver = request.deliver === undefined ? (before?.deliver ?? (isReached ? 'origin' : 'local')) : await check(deliverText(request.deliver));
  const failureDeliver = request.failureDeliver === undefined ? before?.failureDeliver : await check(deliverText(request.failureDeliver));
  return { deliver, ...(failureDeliver !== undefined && { failureDeliver }) };
};

const checkScript = (name: string): string => (isScriptName(name) ? name : refuse(`A script is named by its path below the agent’s scripts folder, such as check.py, not ${JSON.stringify(name.slice(0, 100))}.`));

const scheduleOf = (request: JobRequest, before: JobSettings | undefined, at: { readonly zone: string; readonly nowMs: number }): Pick<JobSettings, 'schedule' | 'display'> => {
  if (request.schedule === undefined && before !== undefined) return { schedule: before.schedule, display: before.display };
  const read = readSchedule(request.schedule ?? '', at);
  return read.type === 'error' ? refuse(`${read.problem}.`) : { schedule: read.schedule, display: read.display };
};

const timesOf = (request: JobRequest, before: JobSettings | undefined, isOnce: boolean): number | null => {
  if (isOnce) return 1;
  const { times } = request;
  // What ran once is given a rhythm: it has no end by itself.
  if (times === undefined) return before === undefined || before.schedule.kind === 'once' ? null : before.times;
  if (!Number.isSafeInteger(times)) refuse('A job is repeated a whole number of times.');
  return times <= 0 ? null : times;
};

const policiesOf = (request: JobRequest, before: JobSettings | undefined): Pick<JobSettings, 'missed' | 'overlap'> => {
  const missed = request.missed === undefined ? (before?.missed ?? 'once') : readMissedPolicy(request.missed.trim().toLowerCase());
  const overlap = overlaps.find((known) => known === (request.overlap?.trim().toLowerCase() ?? before?.overlap ?? 'skip'));
  if (missed === undefined) return refuse(`Missed runs are made up for by "once", "skip" or "all(n)" with n up to ${mostCaughtUp}, not ${JSON.stringify(request.missed)}.`);
  return overlap === undefined ? refuse(`A run beside another is one of ${overlaps.join(', ')}, not ${JSON.stringify(request.overlap)}.`) : { missed, overlap };
};

/** The new value, or the one before; an empty text is none. */
const either = (written: string | undefined, before: string | undefined): string | undefined => {
  const text = written === undefined ? before : written.trim();
  return text === '' ? undefined : text;
};

/** Checked when it is said and when the job runs, not when something else is changed. */
const workdirOf = async (rules: JobRules, { agent, request, before }: Requested): Promise<string | undefined> => {
  const written = either(request.workdir, before?.workdir);
  if (request.workdir === undefined || written === undefined) return written;
  const found = await rules.findFolder(agent, written);
  return found.type === 'found' ? found.path : refuse(found.problem);
};

/** The settings of a job as somebody wants them. Throws `JobRefused` with the reason. */
export const settingsFor = async (db: Reading, rules: JobRules, wanted: Requested): Promise<JobSettings> => {
  const { agent, request, before, nowMs } = wanted;
  if (!rules.isAgent(agent)) refuse(`There is no agent ${JSON.stringify(agent.slice(0, 60))}.`);
  const zone = request.zone?.trim() ?? before?.zone ?? rules.options().timezone ?? ownZone();
  if (!isZone(zone)) refuse(`${JSON.stringify(zone.slice(0, 60))} is no time zone; write one such as Europe/Berlin.`);
  const { schedule, display } = scheduleOf(request, before, { zone, nowMs });
  const prompt = request.prompt === undefined ? (before?.prompt ?? '') : checkPrompt(request.prompt);
  const script = either(request.script, before?.script);
  const noAgent = request.noAgent ?? before?.noAgent ?? false;
  if (noAgent && script === undefined) refuse('A job without an agent needs a script.');
  if (!noAgent && prompt === '') refuse('A job needs a question for its agent, or a script and no agent.');
  const model = either(request.model, before?.model);
  const toolsets = checkList('toolset', request.toolsets ?? before?.toolsets ?? [], isToolset);
  const contextFrom = request.contextFrom ?? before?.contextFrom ?? [];
  const workdir = await workdirOf(rules, wanted);
  return {
    name: oneLine(request.name ?? before?.name ?? '') || oneLine(prompt) || oneLine(script ?? 'job'),
    prompt,
    display,
    schedule,
    zone,
    times: timesOf(request, before, schedule.kind === 'once'),
    ...policiesOf(request, before),
    skills: checkList('skill', request.skills ?? before?.skills ?? [], (name) => rules.hasSkill?.(agent, name) ?? true),
    ...(await deliveryOf(db, rules, wanted)),
    ...(script !== undefined && { script: checkScript(script) }),
    ...(noAgent && { noAgent: true as const }),
    ...(contextFrom.length > 0 && { contextFrom }),
    ...(model !== undefined && { model }),
    ...(toolsets.length > 0 && { toolsets }),
    ...(workdir !== undefined && { workdir }),
    ...((request.mirror ?? before?.mirror ?? false) && { mirror: true as const }),
  };
};
