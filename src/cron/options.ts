import { z } from 'zod';
import { defineSection } from '../config/section.ts';
import { isZone } from './schedule.ts';

/** How scheduled jobs run. */
export const cronSection = defineSection(
  'cron',
  z
    .object({
      timezone: z.string().trim().refine(isZone, 'must be a zone such as Europe/Berlin').meta({ env: 'HERMES_TIMEZONE' }).describe('Zone in which the times of new jobs are meant; the machine’s when left out').optional(),
      max_parallel_jobs: z.int().min(1).max(1000).meta({ env: 'HERMES_CRON_MAX_PARALLEL' }).describe('Jobs that run at the same time; the rest of `agent.max_concurrent_turns` is left to people').default(32),
      script_timeout: z.number().min(1).max(86_400).meta({ env: 'HERMES_CRON_SCRIPT_TIMEOUT' }).describe('Seconds after which the script of a job is ended').default(3600),
      wrap_response: z.boolean().describe('Whether a result says which job it comes from').default(true),
      keep_days: z.number().min(1).describe('Days that runs, their output and their conversations are kept').default(30),
      max_jobs: z.int().min(1).max(100_000).describe('Jobs that one agent may have').default(5000),
    })
    .prefault({}),
  'live',
);

export type CronOptions = z.output<typeof cronSection.schema>;
