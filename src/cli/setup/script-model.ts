import { factsOf, isProviderName, providerNames } from '../../agent/models/endpoints/providers.ts';
import type { ProviderName } from '../../agent/models/endpoints/providers.ts';
import { nearest } from '../../config/settings/nearest.ts';
import { ConfigError } from '../../core/errors.ts';
import { findModels, modelsOf } from './find-models.ts';
import type { SetupFlags } from './flags.ts';
import { checkDraftedModel } from './model-check.ts';
import { keyVariableOf, modelChanges, unusualAddress, wishedAddress } from './model-settings.ts';
import type { EndpointWish } from './model-settings.ts';
import type { SetupRun } from './run.ts';

const mostNamed = 12;

const currentProvider = (run: SetupRun): ProviderName | undefined => {
  const loaded = run.draft.load();
  return loaded.ok && loaded.sections.model.provider !== 'demo' ? loaded.sections.model.provider : undefined;
};

/** As named, else the one whose address is given, else the one in force, else the only one that was found. */
const providerOf = async (run: SetupRun, flags: SetupFlags): Promise<ProviderName> => {
  const named = flags.modelProvider;
  if (named !== undefined && isProviderName(named)) return named;
  if (named !== undefined) {
    const meant = nearest(named, providerNames);
    throw new ConfigError(`--model-provider is one of demo, ${providerNames.join(', ')}, not ${named}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`);
  }
  if (flags.baseUrl !== undefined) return 'custom';
  const current = currentProvider(run);
  if (current !== undefined) return current;
  const found = await findModels(run);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only.provider;
  throw new ConfigError(found.length === 0 ? 'No key and no model server was found. Pass --model-provider, and put its key into the environment.' : `Several models could answer. Pass --model-provider with one of ${found.map(({ provider }) => provider).join(', ')}.`);
};

const nameOf = async (run: SetupRun, flags: SetupFlags, endpoint: EndpointWish): Promise<string> => {
  if (flags.model !== undefined) return flags.model;
  const models = await modelsOf(run, endpoint);
  const [only, ...others] = models;
  if (only !== undefined && others.length === 0) return only;
  throw new ConfigError(`Pass --model with the name of a model${models.length === 0 ? ', as the endpoint calls it' : `, such as ${models.slice(0, mostNamed).join(', ')}`}.`);
};

const keyOf = (run: SetupRun, flags: SetupFlags, endpoint: EndpointWish): string | undefined => {
  const variable = keyVariableOf(endpoint);
  const isNeeded = flags.apiKeyEnv !== undefined || factsOf(endpoint.provider).keyEnv !== undefined;
  if (isNeeded && wishedAddress(run.draft, endpoint).keys.length === 0) throw new ConfigError(`${variable} is not set. Put the key into the environment or .env under that name, or name another variable with --api-key-env.`);
  return flags.saveEnv === true ? run.draft.inEnvironment(variable) : undefined;
};

const change = (run: SetupRun, changes: Parameters<SetupRun['draft']['set']>[0]): void => {
  const refused = run.draft.set(changes);
  if (refused !== undefined) throw new ConfigError(refused);
};

/** Sets the model that the flags name, and asks it. A `ConfigError` says what is missing or wrong. */
export const scriptModel = async (run: SetupRun, flags: SetupFlags): Promise<void> => {
  if (flags.modelProvider === 'demo') {
    change(run, ['provider', 'default', 'base_url', 'api_key'].map((key) => ({ path: `model.${key}`, value: key === 'provider' ? 'demo' : undefined, inConfigOnly: true })));
    return;
  }
  const provider = await providerOf(run, flags);
  const endpoint = { provider, ...(flags.baseUrl === undefined ? unusualAddress(run.draft, provider) : { baseUrl: flags.baseUrl }), ...(flags.apiKeyEnv !== undefined && { keyVariable: flags.apiKeyEnv }) };
  const key = keyOf(run, flags, endpoint);
  const isSame = provider === currentProvider(run) && flags.modelProvider === undefined && flags.baseUrl === undefined && flags.apiKeyEnv === undefined;
  const model = await nameOf(run, flags, endpoint);
  change(run, isSame ? [{ path: 'model.default', value: model }] : modelChanges({ ...endpoint, model, ...(key !== undefined && { key }) }));
  run.checks.push(await checkDraftedModel(run));
};
