import { isAbsolute, join, relative } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import type { JobRules } from '../../cron/job-request.ts';
import type { Store } from '../../store/store.ts';
import { isThere } from '../copy-folder.ts';
import type { FilesOptions } from '../import-pieces.ts';
import type { ImportReport } from '../import-report.ts';
import { attemptIn } from '../try-out.ts';
import { importFiles } from './import-files.ts';
import { importJobs } from './import-jobs.ts';
import { importPeople } from './import-people.ts';
import { importSessions } from './import-sessions.ts';

export interface OriginalImport extends FilesOptions {
  readonly store: Store;
  readonly rules: JobRules;
  /** Gets conversations, files and jobs; undefined for the agent that each had, which is `main` for most. */
  readonly agent: string | undefined;
  readonly report: ImportReport;
}

/** Throws a `ConfigError` for a folder that is no home of the original. */
export const checkOriginalHome = async (folder: string): Promise<void> => {
  const signs = await Promise.all(['state.db', 'config.yaml', 'sessions', 'cron', 'memories'].map((name) => isThere(join(folder, name))));
  if (!signs.includes(true)) throw new ConfigError(`${folder} is not a home of the original: it has neither a config.yaml nor a state.db. It is mostly ~/.hermes.`);
};

/** Takes over everything of an original's home but its configuration. That home is only read. A second run takes nothing twice. */
export const importOriginal = async (folder: string, options: OriginalImport): Promise<void> => {
  const { store, report, dryRun } = options;
  const attempt = attemptIn(store, dryRun);
  const isOwnHome = relative(folder, options.home) === '' && !isAbsolute(relative(folder, options.home));
  if (isOwnHome) report.add({ area: 'files', fate: 'known', what: 'everything in this folder: it is the home of this gateway' });
  else await importFiles(folder, options);
  await importSessions(folder, { attempt, report, agent: options.agent, isAgent: (id) => options.rules.isAgent(id) });
  await importPeople(folder, { attempt, report });
  await importJobs(folder, { attempt, report, rules: options.rules, agent: options.agent ?? 'main' });
};
