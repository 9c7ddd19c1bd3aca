import type { Target } from '../core/message.ts';
import { sessionKey } from '../core/session-key.ts';
import type { CronJob } from '../store/cron/cron-jobs.ts';
import { cronAccount } from '../store/cron/cron-runs.ts';
import type { CronRun } from '../store/cron/cron-runs.ts';

export const cronTarget = (job: Pick<CronJob, 'id'>): Target => ({ account: cronAccount, chatId: job.id, chatType: 'dm' });

export const cronSessionKey = (job: Pick<CronJob, 'id' | 'agent'>): string => sessionKey({ agent: job.agent, account: cronAccount, chat: { id: job.id, type: 'dm' } });

const local = (ms: number, zone: string): Temporal.PlainDateTime => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime();

/** `cron_<job>_<YYYYMMDD_HHMMSS>_<run>`, in the job's zone: each run has a conversation of its own. */
export const cronSessionId = (job: Pick<CronJob, 'id' | 'zone'>, run: Pick<CronRun, 'id' | 'dueAtMs'>): string =>
  `cron_${job.id}_${local(run.dueAtMs, job.zone).toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '').replace('T', '_')}_${run.id}`;

export const cronTitle = (job: Pick<CronJob, 'name' | 'zone'>, run: Pick<CronRun, 'id' | 'dueAtMs'>): string =>
  `${job.name} ${local(run.dueAtMs, job.zone).toString({ smallestUnit: 'minute' }).replace('T', ' ')} #${run.id}`;
