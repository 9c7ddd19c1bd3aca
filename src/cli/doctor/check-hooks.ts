import { hookFolders } from '../../gateway/hooks/hook-folders.ts';
import { discoverHooks } from '../../hooks/discover.ts';
import type { Examination } from './examination.ts';
import { broken, counted, ok, skipped } from './finding.ts';
import type { Finding } from './finding.ts';

/** Whether every hook can be read. None of them is run. */
export const checkHooks = async ({ home, config }: Examination): Promise<readonly Finding[]> => {
  if (config === undefined) return [skipped('The configuration cannot be used')];
  const found = (await Promise.all(hookFolders(home, config.sections).map(discoverHooks))).flat();
  const problems = found.flatMap((hook) => ('problem' in hook ? [broken(`The hook ${hook.id} cannot be used: ${hook.problem}`, `Correct ${hook.folder}, then /reload-hooks`)] : []));
  const usable = found.length - problems.length + Object.keys(config.sections.webhooks_out).length;
  return problems.length > 0 ? problems : [ok(usable === 0 ? 'There are none' : `${counted(usable, 'hook', 'hooks')} can be read`)];
};
