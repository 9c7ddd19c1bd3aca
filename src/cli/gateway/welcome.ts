import type { Logins } from '../../http/logins.ts';
import { platforms } from '../../platforms/registry.ts';
import type { Config } from '../configuration/settings.ts';
import { paint } from '../environment.ts';
import type { Terminal } from '../environment.ts';
import { isSupervised } from './restart-process.ts';

/** What is still to be set up, and how. */
const setupHint = ({ sections, accounts }: Config): readonly string[] => {
  const hasMessenger = accounts.some(({ platform }) => platforms.some(({ name, alwaysOn, surface }) => name === platform && !alwaysOn && surface !== 'machine'));
  const missing = [
    ...(sections.model.provider === 'demo' ? ['This is the built-in demo model, which only shows how things work.'] : []),
    ...(hasMessenger ? [] : ['You can talk to it on the page and in the terminal so far.']),
  ];
  if (missing.length === 0) return [];
  return [...missing, 'To connect a model or a messenger, in another terminal (this one takes it over while it runs):', '', '  hermes setup      (from a checkout: npm run -s hermes setup)', ''];
};

/** What is not read by somebody at a terminal goes into a file, a journal or the log of a container, where others may read it: no link that opens the door. */
const loginLines = async (terminal: Terminal, at: { readonly url: string; readonly logins: Logins }): Promise<readonly string[]> => {
  if (isSupervised(terminal.env) || terminal.stream?.isTTY !== true) return ['  Log in      hermes login makes a link'];
  const link = `${at.url}/login#${await at.logins.newLink()}`;
  return [`  Log in once ${paint(terminal, 'cyan', link)}`, '              (works once, for 10 minutes; hermes login makes another)'];
};

/** What a newcomer sees: where to go, and what to do next. */
export const welcome = async (terminal: Terminal, at: { config: Config; home: string; url: string; logins: Logins }): Promise<void> => {
  const { sections, accounts } = at.config;
  const lines = [
    '',
    paint(terminal, 'bold', `Hermes gateway ${terminal.version}`),
    '',
    `  Page        ${at.url}`,
    ...(await loginLines(terminal, at)),
    `  Home        ${at.home}`,
    `  Model       ${sections.model.provider}${sections.model.default === undefined ? '' : ` / ${sections.model.default}`}`,
    `  Accounts    ${accounts.map(({ account }) => account).join(', ')}`,
    '',
    ...setupHint(at.config),
    'Changes to config.yaml and .env are taken over while it runs. Ctrl-C stops it; nothing is lost.',
    '',
  ];
  terminal.write(`${lines.join('\n')}\n`);
};
