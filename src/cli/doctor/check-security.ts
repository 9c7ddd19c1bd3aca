import { isLoopbackName } from '../../http/client.ts';
import { platforms } from '../../platforms/registry.ts';
import { listApiKeys } from '../../store/api-keys.ts';
import type { Config } from '../settings.ts';
import { askable } from './examination.ts';
import type { Examination } from './examination.ts';
import { ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const strangersHave = (config: Config): readonly string[] =>
  config.accounts.filter(({ platform, common }) => platforms.find(({ name }) => name === platform)?.authenticatesSenders === false && (common.allow_all_users || config.sections.access.allow_all_users)).map(({ account }) => account);

const commands = (config: Config): readonly Finding[] => {
  const { approvals, terminal, command_allowlist: allowed } = config.sections;
  const open = strangersHave(config);
  const found: Finding[] = [];
  if (approvals.mode === 'off') found.push(warning('Nobody is asked before a command that may do harm (approvals.mode: off)', 'hermes config set approvals.mode manual'));
  if (approvals.cron_mode === 'approve' || approvals.unattended_mode === 'approve') found.push(warning('Where nobody can be asked, commands that may do harm are run (approvals.cron_mode, approvals.unattended_mode)', 'Set both to deny, and allow single kinds of commands in command_allowlist'));
  if (terminal.backend === 'local' && open.length > 0) found.push(warning(`Everybody on ${open.join(', ')} can let the agent run commands as the user of the gateway (terminal.backend: local)`, 'terminal.backend: bubblewrap or docker, or name the people who may speak'));
  if (allowed.length > 0) found.push(warning(`These commands are run without asking: ${allowed.join(', ')}`, '/approvals in a chat takes one back'));
  return found.length === 0 ? [ok('Somebody is asked before a command that may do harm')] : found;
};

const doors = ({ sections: { http, api_server: api } }: Config): readonly Finding[] => {
  const found: Finding[] = [];
  if (!isLoopbackName(http.host)) found.push(warning(`The page and the API listen on ${http.host}, without encryption`, 'Put a proxy with TLS in front, or listen on 127.0.0.1 only'));
  if (api.cors_origins.includes('*')) found.push(warning('Every page on the web may call the API from a browser (api_server.cors_origins)', 'Name the origins that may'));
  return found.length === 0 ? [ok('The page and the API can be reached from this machine only')] : found;
};

const keys = async (examined: Examination): Promise<readonly Finding[]> => {
  const known = (await askable(examined)?.read(listApiKeys)) ?? [];
  const boundless = known.filter(({ limits }) => limits.usdPerDay === undefined && limits.perMinute === undefined).map(({ name }) => name);
  const mighty = known.filter(({ scopes }) => scopes.includes('admin')).map(({ name }) => name);
  return [
    ...(boundless.length === 0 ? [] : [warning(`Keys of the API without any limit: ${boundless.join(', ')}`, 'Make others with --per-minute or --usd-per-day, and revoke these')]),
    ...(mighty.length === 0 ? [] : [warning(`Keys of the API that may do everything: ${mighty.join(', ')}`, 'Keep the scope admin for keys that need it')]),
    ...(boundless.length + mighty.length === 0 ? [ok(known.length === 0 ? 'There are no further keys of the API' : 'Every key of the API has limits')] : []),
  ];
};

const secrets = ({ secretInConfig }: Examination): readonly Finding[] => [
  secretInConfig ? warning('config.yaml holds a credential', 'Keep it in .env, so that config.yaml can be shown to others: hermes config set writes it there') : ok('config.yaml holds no credential'),
];

/** What makes the gateway easier to misuse than it has to be. Nothing here is broken; all of it is the owner's to decide. */
export const checkSecurity = async (examined: Examination): Promise<readonly Finding[]> => {
  const { config } = examined;
  if (config === undefined) return [skipped('The configuration cannot be used')];
  return [...commands(config), ...doors(config), ...(await keys(examined)), ...secrets(examined)];
};
