import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ForeignRow } from '../../store/foreign/foreign-database.ts';
import type { OpenclawSharedState } from '../../store/foreign/openclaw-state.ts';
import { isThere } from '../copy-folder.ts';
import type { ImportReport } from '../import-report.ts';
import { at, isRecord, parsed, wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';

const column = (row: ForeignRow, name: string): string | number | undefined => row[name] ?? undefined;

const withColumns = (whole: unknown, columns: Plain): Plain => ({ ...(isRecord(whole) ? whole : {}), ...Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) });

/** Columns win over the JSON beside them. */
const jobOfRow = (row: ForeignRow): Plain => {
  const whole = parsed(row['job_json']);
  return withColumns(whole, {
    id: column(row, 'job_id'),
    name: column(row, 'name'),
    enabled: row['enabled'] === null ? undefined : row['enabled'] !== 0,
    agentId: column(row, 'agent_id'),
    schedule: withColumns(at(whole, 'schedule'), { kind: column(row, 'schedule_kind'), expr: column(row, 'schedule_expr'), tz: column(row, 'schedule_tz'), everyMs: column(row, 'every_ms'), at: column(row, 'at') }),
    payload: withColumns(at(whole, 'payload'), { kind: column(row, 'payload_kind'), message: column(row, 'payload_message'), model: column(row, 'payload_model') }),
    delivery: withColumns(at(whole, 'delivery'), { mode: column(row, 'delivery_mode'), channel: column(row, 'delivery_channel'), to: column(row, 'delivery_to'), threadId: column(row, 'delivery_thread_id'), accountId: column(row, 'delivery_account_id') }),
  });
};

/** Scheduled jobs as OpenClaw writes them, from its database and from `cron/jobs.json`, each once. */
export const readJobs = async (folder: string, shared: OpenclawSharedState | undefined, report: ImportReport): Promise<readonly Plain[]> => {
  const path = join(folder, 'cron', 'jobs.json');
  const written = (await isThere(path)) ? parsed(await readFile(path, 'utf8')) : [];
  const listed = Array.isArray(written) ? written : at(written, 'jobs');
  if (!Array.isArray(listed)) report.add({ area: 'cron', fate: 'left', what: 'cron/jobs.json', why: 'it is not the list of jobs that it should be' });
  const jobs = [...(shared?.jobs() ?? []).map(jobOfRow), ...(Array.isArray(listed) ? listed.filter(isRecord) : [])];
  return [...new Map(jobs.toReversed().map((job) => [wordAt(job, 'id') ?? wordAt(job, 'jobId') ?? '', job])).values()].toReversed();
};
