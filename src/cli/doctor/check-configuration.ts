import { formatProblem } from '../../config/problem.ts';
import { configTrouble, runningTrouble } from '../configuration/config-trouble.ts';
import { holderOf } from '../gateway/process.ts';
import type { Examination } from './examination.ts';
import { broken, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** Whether the files can be used. Their modes are looked at with the home. */
export const checkConfiguration = async ({ terminal, home, loaded, secretInConfig }: Examination): Promise<readonly Finding[]> => {
  const holder = holderOf(home);
  const trouble = !loaded.ok ? await configTrouble(terminal) : holder.type === 'gateway' ? await runningTrouble(terminal, holder.pid) : undefined;
  const problems = loaded.ok ? loaded.disabled.flatMap((account) => account.problems.map((problem) => `${account.account} will not run: ${formatProblem(problem)}`)) : loaded.problems.map(formatProblem);
  const warnings = loaded.warnings.filter(({ code }) => code !== 'exposed').map((problem) => warning(formatProblem(problem), 'Correct or remove it; hermes config check shows all of them'));
  return [
    ...(problems.length === 0 ? [ok('config.yaml, .env and the environment can be used')] : problems.map((text) => broken(text, 'Correct it; hermes config check says when all is well'))),
    ...(trouble === undefined ? [] : [warning(`The configuration ${trouble.text}`, trouble.fix === 'hermes gateway restart' ? trouble.fix : 'Correct it, then restart the gateway or let it take the change over')]),
    ...warnings,
    ...(secretInConfig ? [warning('config.yaml holds a secret', 'Move it to .env: hermes config set puts secrets there, and ${NAME} in config.yaml refers to them')] : []),
  ];
};
