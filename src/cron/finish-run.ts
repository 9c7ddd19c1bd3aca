import type { Target } from '../core/message.ts';
import { composeDeliveries } from '../delivery/compose.ts';
import type { Outgoing } from '../delivery/compose.ts';
import { mirrorSend } from '../delivery/mirror.ts';
import type { Prepared } from '../delivery/prepare-text.ts';
import { lockJob, setFailures } from '../store/cron/cron-jobs.ts';
import type { CronJob } from '../store/cron/cron-jobs.ts';
import { endRun, findRun, isOpen, releaseWaiting } from '../store/cron/cron-runs.ts';
import type { CronRun, RunDelivery, RunResult } from '../store/cron/cron-runs.ts';
import { enqueueDelivery } from '../store/messages/outbox.ts';
import type { Writing } from '../store/store.ts';
import type { CronDeps } from './deps.ts';
import { printPlace } from './print-place.ts';

const longestOutput = 200_000;

const failed: readonly RunResult['state'][] = ['failed', 'timed_out', 'interrupted'];

const wrapped = (job: CronJob, text: string, deps: CronDeps): string => {
  if (!deps.options().wrap_response) return text;
  const about = job.mirror === true ? '' : ' It is not part of our conversation; tell me about it if you want to go on from it.';
  return `⏰ **${job.name}**\n\n${text}\n\n_From the scheduled job \`${job.id}\`.${about}_`;
};

const failureText = (job: CronJob, result: RunResult): string =>
  `⚠️ The scheduled job **${job.name}** ${result.state === 'timed_out' ? 'ran out of time' : 'failed'}: ${result.error ?? 'no reason is known'}\n\nI say this once, until it has worked again. \`/cron show ${job.id}\` tells more.`;

/** What goes out of a run, ready to be put on its way. */
export interface RunMessage {
  readonly target: Target;
  readonly content: Prepared;
}

/** Prepares what people get of a result. It is prepared before it is known whether it is needed: files cannot be copied inside a transaction. */
export const prepareResult = async (deps: CronDeps, at: { readonly job: CronJob; readonly run: CronRun; readonly result: RunResult }, signal: AbortSignal): Promise<readonly RunMessage[]> => {
  const { job, run, result } = at;
  const text = wrapped(job, result.output ?? '', deps);
  const contentFor = async ({ account }: Target): Promise<Prepared> => {
    try {
      return await deps.prepare(text, { account, agent: job.agent }, signal);
    } catch (error) {
      signal.throwIfAborted();
      // Its files are missed less than its words would be.
      deps.log.error({ err: error, job: job.id, run: run.id, account }, 'cron.not_prepared');
      return { text };
    }
  };
  if (result.state === 'ok') return Promise.all((run.plan?.results ?? []).map(async (target) => ({ target, content: await contentFor(target) })));
  if (!failed.includes(result.state)) return [];
  return (run.plan?.failures ?? []).map((target) => ({ target, content: { text: failureText(job, result) } }));
};

const send = async (tx: Writing, deps: CronDeps, out: Outgoing & { readonly turnId: number | undefined }): Promise<RunDelivery> => {
  const platform = deps.targets.account(out.target.account)?.platform;
  const to = printPlace(out.target);
  if (platform === undefined) return { to, keys: [], error: `the account ${out.target.account} is not configured any more` };
  const deliveries = composeDeliveries(platform, out);
  for (const delivery of deliveries) await enqueueDelivery(tx, delivery, out.turnId === undefined ? {} : { turnId: out.turnId });
  return { to, keys: deliveries.map(({ message }) => message.key) };
};

interface Ending {
  readonly job: CronJob;
  readonly run: CronRun;
  readonly result: RunResult;
  readonly messages: readonly RunMessage[];
}

/** A failure is told once in a row, and always to whoever asked for the run. */
const isTold = ({ job, run, result }: Ending): boolean => result.state === 'ok' || (failed.includes(result.state) && (job.failures === 0 || run.cause === 'manual'));

const deliver = async (tx: Writing, deps: CronDeps, ending: Ending): Promise<readonly RunDelivery[]> => {
  const { job, run, result, messages } = ending;
  if (!isTold(ending)) return [];
  const sent: RunDelivery[] = (run.plan?.problems ?? []).map((problem) => ({ to: job.deliver, keys: [], error: problem }));
  for (const [index, { target, content }] of messages.entries()) {
    sent.push(await send(tx, deps, { key: `cron:${run.id}:${index + 1}`, target, ...content, turnId: result.turnId }));
    if (job.mirror !== true || result.state !== 'ok') continue;
    const userId = job.origin?.userId;
    await mirrorSend(tx, { target, text: content.text, agent: job.agent, how: `sent by the scheduled job "${job.name}"`, isOwn: false, ...(userId !== undefined && { userId }) });
  }
  return sent;
};

/** Ends a run: its result, its deliveries, and the beginning of the run that has waited for it, in one transaction. What has ended already stays so. */
export const finishRun = async (tx: Writing, deps: CronDeps, runId: number, end: { readonly result: RunResult; readonly messages: readonly RunMessage[] }): Promise<void> => {
  const before = await findRun(tx, runId);
  const job = before === undefined ? undefined : (await lockJob(tx, before.jobId))?.job;
  const run = await findRun(tx, runId);
  if (run === undefined || !isOpen(run)) return;
  if (job === undefined) {
    await endRun(tx, runId, { state: 'stopped', error: 'the job was removed', deliveries: [] });
    return;
  }
  const { state, output, error } = end.result;
  const deliveries = await deliver(tx, deps, { job, run, ...end });
  await endRun(tx, runId, { state, deliveries, ...(output !== undefined && { output: output.slice(0, longestOutput).toWellFormed() }), ...(error !== undefined && { error }) });
  if (state !== 'stopped') await setFailures(tx, job.id, failed.includes(state) ? job.failures + 1 : 0);
  await releaseWaiting(tx, job.id);
};
