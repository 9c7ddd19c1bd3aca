import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, StoreError } from '../../core/errors.ts';
import type { SessionSharing } from '../../core/session-key.ts';
import type { JobRules } from '../../cron/job-request.ts';
import { openOpenclawAgent, openOpenclawShared } from '../../store/foreign/openclaw-state.ts';
import type { OpenclawSharedState } from '../../store/foreign/openclaw-state.ts';
import type { Store } from '../../store/store.ts';
import { isThere } from '../copy-folder.ts';
import { namesIn } from '../import-pieces.ts';
import type { FilesOptions } from '../import-pieces.ts';
import type { ImportReport } from '../import-report.ts';
import { attemptIn } from '../try-out.ts';
import { agentsOf, workspaceOf } from './agents.ts';
import type { OpenclawAgent } from './agents.ts';
import { importSkills, importWorkspace } from './import-files.ts';
import { importJobs } from './import-jobs.ts';
import { importPeople } from './import-people.ts';
import { agentDatabases, importSessions } from './import-sessions.ts';
import { configFileOf, loadOpenclawConfig } from './load-config.ts';
import type { OpenclawConfig } from './load-config.ts';
import { mapOpenclawConfig } from './read-config.ts';
import type { MappedConfig } from './read-config.ts';

/** An OpenClaw whose configuration has been read. */
export interface OpenclawHome {
  readonly folder: string;
  readonly config: OpenclawConfig;
  readonly agents: readonly OpenclawAgent[];
  /** Its settings as our own two files would say them. */
  readonly settings: MappedConfig;
}

export interface OpenclawImport extends Omit<FilesOptions, 'home'> {
  readonly store: Store;
  readonly rules: JobRules;
  readonly sharing: SessionSharing;
  /** The folder of an agent of ours; undefined for one that there is not. */
  homeOf(agent: string): string | undefined;
}

const loginsOf = async (folder: string, agent: OpenclawAgent, report: ImportReport): Promise<readonly string[]> => {
  const path = join(folder, 'agents', agent.id, 'agent', 'auth-profiles.json');
  const logins = (await isThere(path)) ? [await readFile(path, 'utf8')] : [];
  for (const database of await agentDatabases(folder, agent)) {
    try {
      await using state = await openOpenclawAgent(database);
      logins.unshift(...state.logins());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      report.add({ area: 'config', fate: 'left', what: `logins in ${database.slice(folder.length + 1)}`, why: error.message });
    }
  }
  return logins;
};

/** Reads what an OpenClaw is made of, beside what its `.env` holds. Throws a `ConfigError` for a folder that is none. */
export const readOpenclawHome = async (folder: string, env: ReadonlyMap<string, string>, report: ImportReport): Promise<OpenclawHome> => {
  if ((await configFileOf(folder)) === undefined && !(await isThere(join(folder, 'agents')))) throw new ConfigError(`${folder} is not a folder of OpenClaw: it has neither an openclaw.json nor an agents folder. It is mostly ~/.openclaw.`);
  const config = await loadOpenclawConfig(folder, env, report);
  const agents = await agentsOf(folder, config.root);
  const main = agents.find(({ as }) => as === 'main');
  const logins = main === undefined ? [] : await loginsOf(folder, main, report);
  return { folder, config, agents, settings: mapOpenclawConfig(config, { agents, logins, report }) };
};

const openShared = async (folder: string, report: ImportReport): Promise<OpenclawSharedState | undefined> => {
  const path = join(folder, 'state', 'openclaw.sqlite');
  if (!(await isThere(path))) return undefined;
  try {
    return await openOpenclawShared(path);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    report.add({ area: 'people', fate: 'left', what: 'state/openclaw.sqlite, also with its jobs', why: error.message });
    return undefined;
  }
};

const importFiles = async ({ folder, config, agents }: OpenclawHome, options: OpenclawImport): Promise<void> => {
  for (const agent of agents) {
    const workspace = await workspaceOf(folder, config.root, agent);
    const home = options.homeOf(agent.as);
    if (home === undefined) {
      options.report.add({ area: 'files', fate: 'left', what: workspace ?? `agents/${agent.id}`, why: `there is no agent ${agent.as} here; make one (hermes agent add ${agent.as}) and import again` });
      continue;
    }
    if (agent.as === 'main') await importSkills(join(folder, 'skills'), { ...options, home });
    const report: ImportReport = agent.as === 'main' ? options.report : { lines: options.report.lines, add: (line) => options.report.add({ ...line, what: `${agent.as}: ${line.what}` }) };
    if (workspace !== undefined) await importWorkspace(workspace, { ...options, home, report });
  }
};

/** Why something in the folder is not taken. What stands here with nothing is of no use to anybody else. */
const reasons: Readonly<Record<string, string>> = {
  hooks: 'hooks are written for the program they run in',
  extensions: 'plugins are written for the program they run in',
  credentials: 'people who were let in are taken; log in to everything else anew',
  'exec-approvals.json': 'what may run without asking is decided anew here',
  memory: 'it is an index of notes, which are taken themselves',
};

const reportRest = async (folder: string, report: ImportReport): Promise<void> => {
  for (const name of await namesIn(folder)) {
    const why = reasons[name];
    if (why !== undefined) report.add({ area: 'files', fate: 'left', what: name, why });
  }
};

/** Takes over the main things of an OpenClaw but its configuration: conversations, people, jobs, who its agents are and what they remember. Its folder is only read. A second run takes nothing twice, and goes on where one was interrupted. */
export const importOpenclaw = async (home: OpenclawHome, options: OpenclawImport): Promise<void> => {
  const { folder, agents } = home;
  const { report, rules, sharing, signal } = options;
  const attempt = attemptIn(options.store, options.dryRun);
  await importFiles(home, options);
  await importSessions(folder, agents, { attempt, report, sharing, signal });
  const shared = await openShared(folder, report);
  try {
    await importPeople(folder, { attempt, report, shared });
    await importJobs(folder, { attempt, report, rules, agents, shared });
  } finally {
    await shared?.[Symbol.asyncDispose]();
  }
  await reportRest(folder, report);
};
