import { discoverLocalServers } from '../../agent/models/endpoints/discover.ts';
import { listModels } from '../../agent/models/endpoints/list-models.ts';
import { factsOf, providerNames } from '../../agent/models/endpoints/providers.ts';
import type { ProviderName } from '../../agent/models/endpoints/providers.ts';
import { withinTime } from '../process/within-time.ts';
import { unusualAddress, wishedAddress } from './model-settings.ts';
import type { EndpointWish } from './model-settings.ts';
import type { SetupRun } from './run.ts';

/** An endpoint that could answer as things are. */
export interface ModelSource {
  readonly provider: ProviderName;
  readonly label: string;
  /** When it is not the usual one of the provider. */
  readonly baseUrl?: string;
  /** Where its key was found; undefined for a server on this machine. */
  readonly keyVariable?: string;
  /** As the endpoint lists them; empty when it does not say. */
  readonly models: readonly string[];
}

const listMs = 6_000;

/** The models of an endpoint; none when it cannot be asked or does not say. Whether its key works is asked with a real call. */
export const modelsOf = async (run: SetupRun, choice: EndpointWish): Promise<readonly string[]> => {
  if (run.skipChecks) return [];
  try {
    const listed = await withinTime(listMs, run.signal, (signal) => listModels(wishedAddress(run.draft, choice), { fetch }, signal));
    return listed.map(({ id }) => id);
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof Error) return [];
    throw error;
  }
};

/** Providers with a key in the environment or in `.env`. Two names of one provider count once. */
export const keyedProviders = (run: SetupRun): readonly Omit<ModelSource, 'models'>[] => {
  const seen = new Set<string>();
  return providerNames.flatMap((provider) => {
    const { keyEnv, label } = factsOf(provider);
    if (keyEnv === undefined || seen.has(keyEnv) || wishedAddress(run.draft, { provider }).keys.length === 0) return [];
    seen.add(keyEnv);
    return [{ provider, label, keyVariable: keyEnv, ...unusualAddress(run.draft, provider) }];
  });
};

/** What is there already: known keys, and servers that answer on this machine. */
export const findModels = async (run: SetupRun): Promise<readonly ModelSource[]> => {
  const asked = Promise.all(keyedProviders(run).map(async (source) => ({ ...source, models: await modelsOf(run, source) })));
  const [withKeys, servers] = await Promise.all([asked, run.skipChecks ? [] : discoverLocalServers(fetch, run.signal)]);
  return [...withKeys, ...servers.map(({ provider, label, models }) => ({ provider, label: `${label} on this machine`, models: models.map(({ id }) => id) }))];
};
