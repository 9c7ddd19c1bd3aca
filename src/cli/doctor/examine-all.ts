import { checkAccounts } from './check-accounts.ts';
import { checkAgents } from './check-agents.ts';
import { checkClock } from './check-clock.ts';
import { checkConfiguration } from './check-configuration.ts';
import { checkDatabase } from './check-database.ts';
import { checkGateway } from './check-gateway.ts';
import { checkHome } from './check-home.ts';
import { checkHooks } from './check-hooks.ts';
import { checkModelAnswers } from './check-model-answers.ts';
import { checkPeople } from './check-people.ts';
import { checkSecurity } from './check-security.ts';
import { checkLog, checkNode, checkPage, checkTerminal } from './check-surroundings.ts';
import { checkWork } from './check-work.ts';
import type { Examination } from './examination.ts';
import { broken } from './finding.ts';
import type { Finding } from './finding.ts';
import { withinTime } from '../process/within-time.ts';

type Check = (examined: Examination, signal: AbortSignal) => Promise<readonly Finding[]>;

export interface Examined {
  readonly area: string;
  readonly findings: readonly Finding[];
}

/** In the order in which a person would look. */
const checks: readonly { readonly area: string; readonly check: Check }[] = [
  { area: 'Node', check: checkNode },
  { area: 'Home', check: checkHome },
  { area: 'Configuration', check: checkConfiguration },
  { area: 'Database', check: checkDatabase },
  { area: 'Gateway', check: checkGateway },
  { area: 'Page', check: checkPage },
  { area: 'Model', check: checkModelAnswers },
  { area: 'Agents', check: checkAgents },
  { area: 'Hooks', check: checkHooks },
  { area: 'Accounts', check: checkAccounts },
  { area: 'People', check: checkPeople },
  { area: 'Work', check: checkWork },
  { area: 'Clock', check: checkClock },
  { area: 'Log', check: checkLog },
  { area: 'Terminal', check: checkTerminal },
];

/** Only those that are about what others could do with the gateway. */
const securityChecks: typeof checks = [
  { area: 'Home', check: checkHome },
  { area: 'People', check: checkPeople },
  { area: 'Security', check: checkSecurity },
];

/** No single check may hold the others up for longer than an answer may take, and this. */
const besideMs = 2000;

/** Every check side by side. One that fails by itself is a finding, too. */
export const examineAll = (examined: Examination, signal: AbortSignal, options: { readonly security?: boolean } = {}): Promise<readonly Examined[]> =>
  Promise.all(
    (options.security === true ? securityChecks : checks).map(async ({ area, check }) => {
      try {
        return { area, findings: await withinTime(examined.answerMs + besideMs, signal, (inTime) => check(examined, inTime)) };
      } catch (error) {
        signal.throwIfAborted();
        return { area, findings: [broken(`This could not be checked: ${error instanceof Error ? error.message : String(error)}`, 'hermes status and the log may say more')] };
      }
    }),
  );
