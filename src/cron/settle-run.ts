import type { Target } from '../core/message.ts';
import type { ExitReason } from '../core/turn.ts';
import { composeDeliveries } from '../delivery/compose.ts';
import type { Outgoing } from '../delivery/compose.ts';
import { isSilentResult } from '../delivery/silence.ts';
import type { SettleTurn, TurnOutcome } from '../sessions/begin.ts';
import { lockJob, setFailures } from '../store/cron-jobs.ts';
import type { CronJob } from '../store/cron-jobs.ts';
import { endRun, findRun, isOpen, releaseWaiting, runOfSession } from '../store/cron-runs.ts';
import type { CronRun, RunDelivery, RunEnd } from '../store/cron-runs.ts';
import { enqueueDelivery } from '../store/outbox.ts';
import type { Writing } from '../store/store.ts';
import type { RunningTurn } from '../store/turns.ts';
import type { SettleDeps } from './deps.ts';
import { cronAccount } from './place.ts';
import { printPlace } from './print-place.ts';

/** How a run went. */
export interface RunResult {
  readonly state: Extract<RunEnd, 'ok' | 'silent' | 'failed' | 'timed_out' | 'stopped' | 'interrupted'>;
  readonly output?: string;
  /** One sentence for people. */
  readonly error?: string;
  readonly media?: Outgoing['media'];
  readonly turnId?: number;
}

const longestOutput = 200_000;

const failed: readonly RunResult['state'][] = ['failed', 'timed_out', 'interrupted'];

const wrapped = (job: CronJob, text: string, deps: SettleDeps): string => (deps.options().wrap_response ? `⏰ **${job.name}**\n\n${text}\n\n_Scheduled job \`${job.id}\`. This message is not part of our conversation; tell me about it if you want to go on from it._` : text);

const failureText = (job: CronJob, result: RunResult): string =>
  `⚠️ The scheduled job **${job.name}** ${result.state === 'timed_out' ? 'ran out of time' : 'failed'}: ${result.error ?? 'no reason is known'}\n\nI say this once, until it has worked again. \`/cron show ${job.id}\` tells more.`;

/** What people get of a run, and who of them. A failure is told once in a row, and always to whoever asked for the run. */
const messageOf = (job: CronJob, run: CronRun, result: RunResult, deps: SettleDeps): { readonly text: string; readonly to: readonly Target[] } | undefined => {
  if (result.state === 'ok') return { text: wrapped(job, result.output ?? '', deps), to: run.plan?.results ?? [] };
  if (!failed.includes(result.state) || (job.failures > 0 && run.cause !== 'manual')) return undefined;
  return { text: failureText(job, result), to: run.plan?.failures ?? [] };
};

const sendTo = async (tx: Writing, deps: SettleDeps, out: Outgoing & { readonly turnId?: number }): Promise<RunDelivery> => {
  const platform = deps.resolve.account(out.target.account)?.platform;
  const to = printPlace(out.target);
  if (platform === undefined) return { to, keys: [], error: `the account ${out.target.account} is not configured any more` };
  const deliveries = composeDeliveries(platform, out);
  for (const delivery of deliveries) await enqueueDelivery(tx, delivery, out.turnId === undefined ? {} : { turnId: out.turnId });
  return { to, keys: deliveries.map(({ message }) => message.key) };
};

const deliver = async (tx: Writing, deps: SettleDeps, at: { job: CronJob; run: CronRun; result: RunResult }): Promise<readonly RunDelivery[]> => {
  const { job, run, result } = at;
  const message = messageOf(job, run, result, deps);
  if (message === undefined) return [];
  const sent: RunDelivery[] = (run.plan?.problems ?? []).map((problem) => ({ to: job.deliver, keys: [], error: problem }));
  for (const [index, target] of message.to.entries()) {
    sent.push(await sendTo(tx, deps, { key: `cron:${run.id}:${index + 1}`, target, text: message.text, ...(result.media !== undefined && { media: result.media }), ...(result.turnId !== undefined && { turnId: result.turnId }) }));
  }
  return sent;
};

/** Ends a run: its result, its deliveries, and the run that has waited for it, in the transaction of whoever ends it. What has ended already stays so. */
export const settleRun = async (tx: Writing, deps: SettleDeps, runId: number, result: RunResult): Promise<void> => {
  const before = await findRun(tx, runId);
  if (before === undefined) return;
  const job = (await lockJob(tx, before.jobId))?.job;
  const run = await findRun(tx, runId);
  if (run === undefined || !isOpen(run)) return;
  if (job === undefined) {
    await endRun(tx, runId, { state: 'stopped', error: 'the job was removed', deliveries: [] });
    return;
  }
  const deliveries = await deliver(tx, deps, { job, run, result });
  await endRun(tx, runId, {
    state: result.state,
    deliveries,
    ...(result.output !== undefined && { output: result.output.slice(0, longestOutput).toWellFormed() }),
    ...(result.error !== undefined && { error: result.error }),
  });
  if (result.state !== 'stopped') await setFailures(tx, job.id, failed.includes(result.state) ? job.failures + 1 : 0);
  await releaseWaiting(tx, job.id);
};

/** The result that an answer stands for. */
export const resultOfText = (text: string): RunResult => {
  if (text.trim() === '') return { state: 'failed', error: 'there was no answer' };
  return { state: isSilentResult(text) ? 'silent' : 'ok', output: text };
};

const resultOfTurn = ({ reason, error, text, answer }: TurnOutcome): RunResult => {
  const end = reason satisfies ExitReason;
  switch (end) {
    case 'completed':
    case 'silent':
    case 'limit':
      return { ...resultOfText(answer?.text ?? text), ...(answer?.media !== undefined && { media: answer.media }) };
    case 'stopped':
    case 'interrupted':
      return { state: 'stopped', output: text };
    case 'deadline':
      return { state: 'timed_out', output: text, error: error ?? 'the turn took too long' };
    case 'set_aside':
      return { state: 'failed', error: 'each try ended with a crash of the gateway' };
    case 'model_error':
    case 'internal_error':
    case 'suspended':
      return { state: 'failed', output: text, error: error ?? 'the agent broke off' };
    default:
      throw end satisfies never;
  }
};

/** Takes the ends of turns that answer jobs. Undefined for every other turn. */
export const settleCronTurn =
  (deps: SettleDeps) =>
  (turn: RunningTurn): SettleTurn | undefined => {
    if (turn.target.account !== cronAccount) return undefined;
    return async (tx, outcome) => {
      const run = await runOfSession(tx, turn.sessionId);
      if (run !== undefined) await settleRun(tx, deps, run.id, { ...resultOfTurn(outcome), turnId: turn.id });
    };
  };
