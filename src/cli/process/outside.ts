import { describeSettings } from '../../config/settings/describe-settings.ts';
import { OwnVariables } from '../../config/secrets/own-variables.ts';
import { formatProblem } from '../../config/problem.ts';
import { setSetting } from '../../config/settings/set-setting.ts';
import { recordAct } from '../../lib/audit-log.ts';
import { newChains } from '../../lib/chains.ts';
import { systemClock } from '../../lib/clock.ts';
import { scrubbedEnvironment } from '../../lib/scrubbed-environment.ts';
import type { GatewayOptions } from '../../gateway/gateway.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Terminal } from '../environment.ts';
import { markedEnvironment } from '../gateway/gateway-marker.ts';
import { sections } from '../configuration/settings.ts';

/** Variables that hold secrets of ours, by the word of the settings. */
const secretVariables = (): ReadonlySet<string> => new Set(describeSettings(sections, platforms).flatMap(({ secret, variable }) => (secret && variable !== undefined ? [variable] : [])));

const changes = newChains();

/** What the process around a gateway does for it. What it writes into the files is taken over by whoever follows them. */
export const outsideOf = (terminal: Terminal, home: string, restart?: (askedBy: string) => void): NonNullable<GatewayOptions['outside']> => ({
  childEnvironment: (passthrough) => ({ ...scrubbedEnvironment(terminal.env, { passthrough, withheld: secretVariables() }), ...markedEnvironment(home) }),
  openVariables: (path, redactor) => new OwnVariables(path, redactor),
  environment: (name) => terminal.env[name],
  // In the order in which they are asked for.
  changeSetting: (path, value) =>
    changes.run(home, async () => {
      const outcome = await setSetting({ home, env: terminal.env, sections, platforms, path, value });
      if (!outcome.ok) return outcome.problems.map(formatProblem).join('; ');
      return outcome.overridden ? `the environment has a variable for ${path}, and it wins` : undefined;
    }),
  audit: (act) => recordAct(home, act, systemClock.now()),
  ...(restart !== undefined && { restart }),
});
