import { providers } from '../../agent/models/endpoints/providers.ts';
import type { ProviderFacts } from '../../agent/models/endpoints/providers.ts';
import { resolveHome } from '../../config/home.ts';
import { configFiles } from '../../config/load-config.ts';
import { OwnVariables } from '../../config/secrets/own-variables.ts';
import { knownVariables } from '../../config/upkeep/misspelt-variables.ts';
import type { Environment } from '../../config/variables.ts';
import { ConfigError } from '../../core/errors.ts';
import { newRedactor } from '../../lib/redact.ts';
import { platforms } from '../../platforms/registry.ts';
import { readAlone, sections } from '../configuration/settings.ts';
import type { Terminal } from '../environment.ts';

/** Variables of this shell that stand for settings of a gateway. */
const settingsIn = (env: Environment): readonly string[] => [...knownVariables(sections, platforms).keys()].filter((name) => (env[name] ?? '') !== '').toSorted();

const without = (env: Environment, names: readonly string[]): Environment => Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));

const ofModels = new Set(Object.values<ProviderFacts>(providers).flatMap(({ keyEnv, baseUrlEnv }) => [keyEnv, baseUrlEnv]));

/** The environment for gateways in several homes, and what was left out of it: a bot, a port or a database is that of one. Keys of models are the person's. */
export const sharedEnvironment = (env: Environment): { readonly env: Environment; readonly leftOut: readonly string[] } => {
  const leftOut = settingsIn(env).filter((name) => !ofModels.has(name));
  return { env: without(env, leftOut), leftOut };
};

/** What a service would not know, because only this shell says it. Throws when it would be another database. */
export const unseenByService = async (terminal: Terminal): Promise<readonly string[]> => {
  const kept = new OwnVariables(configFiles(resolveHome(terminal.env)).env, terminal.redactor ?? newRedactor());
  await kept.refresh();
  const unseen = settingsIn(terminal.env).filter((name) => kept.get(name) === undefined);
  const { store } = await readAlone({ ...terminal, env: without(terminal.env, unseen) });
  if (unseen.includes('DATABASE_URL') && store !== undefined && store.database_url === undefined) throw new ConfigError('DATABASE_URL is set in this shell only, so the service would open another database, which is empty. Keep it first: hermes config set store.database_url "$DATABASE_URL"');
  return unseen;
};
