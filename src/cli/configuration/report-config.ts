import { formatProblem } from '../../config/problem.ts';
import type { Section } from '../../config/section.ts';
import type { Startable } from '../../config/upkeep/last-good.ts';
import { movedText } from '../../config/upkeep/migrate-config.ts';
import type { Migration } from '../../config/upkeep/migrate-config.ts';
import type { AuditedAct } from '../../lib/audit-log.ts';
import type { Logger } from '../../lib/logger.ts';

/** Says in the log what a gateway starts with: what was moved, what is odd, what will not run, and above all when it is not what the files say. */
export const reportConfig = (at: { readonly log: Logger; audit(act: AuditedAct): void }, startable: Exclude<Startable<readonly Section[]>, { readonly type: 'none' }>, migrated: Migration): void => {
  const { log } = at;
  if (migrated.type === 'migrated') {
    log.warn({ moved: migrated.moved.map(({ from, to }) => `${from.join('.')} -> ${to.join('.')}`), diff: migrated.diff, kept: migrated.kept }, 'config.migrated');
    at.audit({ by: 'the gateway', act: 'config migrate', subject: movedText(migrated.moved) });
  }
  if (startable.type === 'last_good') {
    log.error({ problems: startable.problems.map(formatProblem), kept_at: new Date(startable.keptAtMs).toISOString(), fix: 'hermes config check' }, 'config.started_with_last_good');
  }
  for (const warning of startable.config.warnings) log.warn({ problem: formatProblem(warning) }, 'config.warning');
  for (const { problems } of startable.config.disabled) for (const problem of problems) log.error({ problem: formatProblem(problem) }, 'config.account_disabled');
};
