import { join } from 'node:path';
import type { Logins } from '../http/logins.ts';
import { platforms } from '../platforms/registry.ts';
import { paint } from './environment.ts';
import type { Terminal } from './environment.ts';
import type { Config } from './settings.ts';

/** What is still to be set up, if anything. */
const setupHint = (missing: readonly string[]): readonly string[] => (missing.length === 0 ? [] : [`${missing.join('\n')}`, '', '  hermes setup', '', 'asks for both, checks them and writes the configuration, also while this runs.', '']);

/** What a newcomer sees: where to go, and what to do next. */
export const welcome = async (terminal: Terminal, at: { config: Config; home: string; url: string; logins: Logins }): Promise<void> => {
  const link = `${at.url}/login#${await at.logins.newLink()}`;
  const { sections, accounts } = at.config;
  const lines = [
    '',
    paint(terminal, 'bold', `Hermes gateway ${terminal.version}`),
    '',
    `  Page        ${at.url}`,
    `  Log in once ${paint(terminal, 'cyan', link)}`,
    `              (works once, for 10 minutes; hermes login makes another)`,
    `  Home        ${at.home}`,
    `  Model       ${sections.model.provider}${sections.model.default === undefined ? '' : ` / ${sections.model.default}`}`,
    `  Accounts    ${accounts.map(({ account }) => account).join(', ')}`,
    '',
    ...(sections.model.provider === 'demo' ? [...modelHint(join(at.home, 'config.yaml')), ''] : []),
    ...(accounts.some(({ platform }) => platforms.find(({ name }) => name === platform)?.alwaysOn === false) ? [] : [...platformHint(join(at.home, '.env')), '']),
    'Changes to these files are taken over while it runs. Ctrl-C stops it; nothing is lost.',
    '',
  ];
  terminal.write(`${lines.join('\n')}\n`);
};
