import { markUntrusted } from '../agent/untrusted-text.ts';
import type { Skill } from '../agent/tools/skills/load-skills.ts';
import type { CronJob } from '../store/cron/cron-jobs.ts';
import type { DeliveryPlan } from '../store/cron/cron-runs.ts';
import { printPlace } from './print-place.ts';
import type { ScriptResult } from './run-script.ts';

/** What is put together for one run. */
export interface RunMaterial {
  readonly dueAtMs: number;
  readonly plan: DeliveryPlan;
  readonly script?: ScriptResult;
  /** What other jobs said last. */
  readonly context: readonly { readonly name: string; readonly output: string | undefined }[];
  /** In the order of the job; undefined for one that does not exist (any more). */
  readonly skills: readonly { readonly name: string; readonly skill: Skill | undefined }[];
}

/** `2026-03-02 09:00 Europe/Berlin` */
export const localTime = (ms: number, zone: string): string => `${Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ')} ${zone}`;

const destination = ({ results }: DeliveryPlan): string =>
  results.length === 0 ? 'It is kept for the owner to read and sent nowhere.' : `It is sent to ${results.map(printPlace).join(' and ')} by itself: do not send it there with a tool.`;

const opening = (job: CronJob, { dueAtMs, plan }: RunMaterial): string =>
  [
    `[Scheduled job "${job.name}", due ${localTime(dueAtMs, job.zone)}. Nobody is here to answer questions: decide by yourself.`,
    ...(job.workdir === undefined ? [] : [`You work in the folder ${job.workdir}.`]),
    `Your last message is the result. ${destination(plan)}`,
    'If there is nothing worth reporting, answer with [SILENT] and nothing else.]',
  ].join(' ');

const withOutput = (heading: string, source: string, ...parts: readonly string[]): string => {
  const output = parts.filter((part) => part.trim() !== '').join('\n\n');
  return output === '' ? `[${heading} It wrote nothing.]` : `[${heading}]\n${markUntrusted(source, output)}`;
};

/** What the agent is told about the script that ran before it. */
const scriptBlock = (name: string, result: ScriptResult): string => {
  switch (result.end) {
    case 'exited': {
      const { exitCode, stdout, stderr } = result;
      if (exitCode === 0) return withOutput(`The script ${name} has run for this job.`, `script ${name}`, stdout);
      return withOutput(`The script ${name} of this job failed with exit code ${exitCode ?? 'unknown'}: report that unless the job says otherwise.`, `script ${name}`, stdout, stderr);
    }
    case 'timeout':
      return withOutput(`The script ${name} of this job was ended because its time was up: report that unless the job says otherwise.`, `script ${name}`, result.stdout, result.stderr);
    case 'interrupted':
      return withOutput(`The script ${name} of this job was cut off when the gateway ended, and was not run again: it may have done a part of its work.`, `script ${name}`, result.stdout, result.stderr);
    case 'not_started':
      return `[The script ${name} of this job did not run: ${result.problem}. Report that unless the job says otherwise.]`;
    default:
      throw result satisfies never;
  }
};

const skillBlock = ({ name, skill }: RunMaterial['skills'][number]): string =>
  skill === undefined ? `[The skill ${name} of this job does not exist any more.]` : `[skill ${skill.name}, in ${skill.folder}]\n${skill.body}\n[end of skill ${skill.name}]`;

/** The whole question that a run asks its agent. */
export const runPrompt = (job: CronJob, material: RunMaterial): string =>
  [
    opening(job, material),
    ...(job.script === undefined || material.script === undefined ? [] : [scriptBlock(job.script, material.script)]),
    ...material.context.map(({ name, output }) => (output === undefined ? `[The job ${name} has had no result yet.]` : `[What the job ${name} said last]\n${markUntrusted(`job ${name}`, output)}`)),
    ...material.skills.map(skillBlock),
    job.prompt,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
