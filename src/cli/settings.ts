import type { LoadedConfig, ValidConfig } from '../config/evaluate.ts';
import { resolveHome } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { formatProblem } from '../config/problem.ts';
import { ConfigError } from '../core/errors.ts';
import { gatewaySections } from '../gateway/settings.ts';
import type { GatewayConfig } from '../gateway/settings.ts';
import { apiSection } from '../http/api/options.ts';
import { httpSection } from '../http/options.ts';
import type { Redactor } from '../lib/redact.ts';
import { platforms } from '../platforms/registry.ts';
import type { Terminal } from './environment.ts';

/** Every section that the program reads. */
export const sections = [...gatewaySections, httpSection, apiSection] as const;

export type Config = ValidConfig<typeof sections>;

export const readConfig = (terminal: Terminal, redactor?: Redactor): Promise<LoadedConfig<typeof sections>> =>
  loadConfig({ home: resolveHome(terminal.env), env: terminal.env, sections, platforms, redactor });

/** The configuration, or a `ConfigError` that lists everything wrong with it. */
export const requireConfig = async (terminal: Terminal, redactor?: Redactor): Promise<Config> => {
  const loaded = await readConfig(terminal, redactor);
  if (loaded.ok) return loaded;
  throw new ConfigError(['The configuration cannot be used:', ...loaded.problems.map((problem) => `  ${formatProblem(problem)}`)].join('\n'));
};

export const gatewayConfig = (config: Config): GatewayConfig => ({
  settings: config.sections,
  accounts: config.accounts,
  disabled: config.disabled.map(({ account, problems }) => ({ account, reason: problems.map(formatProblem).join('; ') })),
});
