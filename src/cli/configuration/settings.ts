import type { ValidConfig } from '../../config/evaluate.ts';
import { resolveHome } from '../../config/home.ts';
import { loadAlone, loadConfig } from '../../config/load-config.ts';
import type { LoadedFiles } from '../../config/load-config.ts';
import { formatProblem } from '../../config/problem.ts';
import type { Problem } from '../../config/problem.ts';
import type { SectionValues } from '../../config/section.ts';
import { startableConfig } from '../../config/upkeep/last-good.ts';
import type { Startable } from '../../config/upkeep/last-good.ts';
import { ConfigError } from '../../core/errors.ts';
import { gatewaySections } from '../../gateway/settings.ts';
import type { GatewayConfig } from '../../gateway/settings.ts';
import { apiSection } from '../../http/api/options.ts';
import { httpSection } from '../../http/options.ts';
import type { Redactor } from '../../lib/redact.ts';
import { pluginsSection } from '../../platforms/plugin-options.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Terminal } from '../environment.ts';

/** Every section that the program reads. */
export const sections = [...gatewaySections, httpSection, apiSection, pluginsSection] as const;

export type Config = ValidConfig<typeof sections>;

export const readConfig = (terminal: Terminal, redactor?: Redactor): Promise<LoadedFiles<typeof sections>> =>
  loadConfig({ home: resolveHome(terminal.env), env: terminal.env, sections, platforms, redactor: redactor ?? terminal.redactor, commands: terminal.commands });

/** Sections that need no secret that stands elsewhere: for commands that should not have to ask a password manager. */
export const readAlone = (terminal: Terminal): Promise<Partial<SectionValues<typeof sections>>> =>
  loadAlone({ home: resolveHome(terminal.env), env: terminal.env, sections, platforms, redactor: terminal.redactor });

/** What only cannot be read now, as a secret whose keeper is still locked, may be readable a moment later. */
const unusable = (problems: readonly Problem[]): ConfigError =>
  new ConfigError(['The configuration cannot be used:', ...problems.map((problem) => `  ${formatProblem(problem)}`)].join('\n'), { mayPass: problems.every(({ code }) => code === 'unreadable') });

/** The configuration, or a `ConfigError` that lists everything wrong with it. */
export const requireConfig = async (terminal: Terminal, redactor?: Redactor): Promise<Config> => {
  const loaded = await readConfig(terminal, redactor);
  if (loaded.ok) return loaded;
  throw unusable(loaded.problems);
};

/** The configuration, or the last one that a gateway could run with when the files cannot be used; a `ConfigError` when there is none. */
export const requireStartable = async (terminal: Terminal, redactor?: Redactor): Promise<Exclude<Startable<typeof sections>, { readonly type: 'none' }>> => {
  const found = await startableConfig({ home: resolveHome(terminal.env), env: terminal.env, sections, platforms, redactor: redactor ?? terminal.redactor, commands: terminal.commands });
  if (found.type === 'none') throw unusable(found.problems);
  return found;
};

export const gatewayConfig = (config: Config): GatewayConfig => ({
  settings: config.sections,
  accounts: config.accounts,
  disabled: config.disabled.map(({ account, problems, isOptional }) => ({ account, reason: problems.map(formatProblem).join('; '), ...(isOptional === true && { isOptional }) })),
});
