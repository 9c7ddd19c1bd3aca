import { stat } from 'node:fs/promises';
import { auditObstacle } from '../../lib/audit-log.ts';
import { isLoopbackName } from '../../http/client.ts';
import { platforms } from '../../platforms/registry.ts';
import { noAuthentication } from '../../platforms/webhook/client.ts';
import type { WebhookOptions } from '../../platforms/webhook/client.ts';
import { listApiKeys } from '../../store/api/api-keys.ts';
import type { Config } from '../configuration/settings.ts';
import { askable } from './examination.ts';
import type { Examination } from './examination.ts';
import { broken, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { isWeakSecret } from './weak-secret.ts';

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

const webhookRoutes = (config: Config): readonly { readonly name: string; readonly secret: string }[] =>
  config.accounts
    .filter(({ platform }) => platform === 'webhook')
    .flatMap(({ account, options }) => Object.entries((options as WebhookOptions).routes).map(([name, { secret }]) => ({ name: `${account}/${name}`, secret })));

const unsigned = (config: Config): readonly Finding[] => {
  const open = webhookRoutes(config).filter(({ secret }) => secret === noAuthentication);
  return open.length === 0 ? [] : [warning(`Every program on this machine may call these webhooks without a secret: ${open.map(({ name }) => name).join(', ')}`, 'Remove them, and let hermes webhook add make routes with a secret')];
};

/** Credentials that this gateway's owner has chosen, and that strangers may try to guess. */
const weak = (config: Config): readonly Finding[] => {
  const { http, api_server: api } = config.sections;
  const chosen = [
    { name: 'http.token', secret: http.token },
    { name: 'api_server.key', secret: api.key },
    ...webhookRoutes(config).filter(({ secret }) => secret !== noAuthentication),
  ];
  const guessable = chosen.filter(({ secret }) => secret !== undefined && isWeakSecret(secret)).map(({ name }) => name);
  return guessable.length === 0 ? [] : [warning(`Easy to guess: ${guessable.join(', ')}`, 'Take a drawn one: openssl rand -base64 32')];
};

/** Whose rights the agent's commands have. */
const rights = async ({ home, homeExists }: Examination): Promise<readonly Finding[]> => {
  const isRoot = process.getuid?.() === 0 || (homeExists && process.platform !== 'win32' && (await stat(home)).uid === 0);
  return isRoot ? [warning('The gateway of this home runs as root, and with it every command that the agent runs', 'Let it run as a user of its own, and give it the home: chown -R')] : [];
};

const auditLog = ({ home }: Examination): Finding => {
  const obstacle = auditObstacle(home);
  return obstacle === undefined ? ok('Who changed what is written down (hermes audit)') : broken(`What is changed cannot be written down: logs/audit.log cannot be written (${obstacle})`, 'Let the owner of the home write a file there');
};

const secrets = ({ secretInConfig }: Examination): readonly Finding[] => [
  secretInConfig ? warning('config.yaml holds a credential', 'Keep it in .env, so that config.yaml can be shown to others: hermes config set writes it there') : ok('config.yaml holds no credential'),
];

/** What makes the gateway easier to misuse than it has to be. Nothing here is broken; all of it is the owner's to decide. */
export const checkSecurity = async (examined: Examination): Promise<readonly Finding[]> => {
  const { config } = examined;
  if (config === undefined) return [skipped('The configuration cannot be used')];
  return [...commands(config), ...(await rights(examined)), ...doors(config), ...unsigned(config), ...(await keys(examined)), ...weak(config), ...secrets(examined), auditLog(examined)];
};
