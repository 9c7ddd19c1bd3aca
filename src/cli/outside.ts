import type { Environment } from '../config/variables.ts';
import { formatProblem } from '../config/problem.ts';
import { setSetting } from '../config/set-setting.ts';
import type { GatewayOptions } from '../gateway/gateway.ts';
import { platforms } from '../platforms/registry.ts';
import type { Terminal } from './environment.ts';
import { sections } from './settings.ts';

/** What a program needs to find others and to know whose it is; nothing that could be a secret is among it. */
const harmless: readonly string[] = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'SystemRoot', 'ComSpec', 'PATHEXT', 'USERPROFILE'];

const harmlessPart = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(harmless.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));

/** What the process around a gateway does for it. What it writes into the files is taken over by whoever follows them. */
export const outsideOf = (terminal: Terminal, home: string, restart?: () => void): NonNullable<GatewayOptions['outside']> => ({
  childEnvironment: () => harmlessPart(terminal.env),
  async changeSetting(path, value) {
    const outcome = await setSetting({ home, env: terminal.env, sections, platforms, path, value });
    if (!outcome.ok) return outcome.problems.map(formatProblem).join('; ');
    return outcome.overridden ? `the environment has a variable for ${path}, and it wins` : undefined;
  },
  ...(restart !== undefined && { restart }),
});
