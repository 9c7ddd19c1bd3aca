import { listModels } from './list-models.ts';
import type { Fetch, ListedModel } from './list-models.ts';
import { factsOf, providerNames } from './providers.ts';
import type { ProviderName } from './providers.ts';

/** A model server on this machine. `provider` is what to write as `model.provider`. */
export interface LocalServer {
  readonly provider: ProviderName;
  readonly label: string;
  readonly baseUrl: string;
  /** Empty when none is installed. */
  readonly models: readonly ListedModel[];
}

/** A server on this machine answers at once or is none. */
const patienceMs = 1000;

const lookAt = async (fetch: Fetch, provider: ProviderName, signal: AbortSignal): Promise<LocalServer | undefined> => {
  const { label, baseUrl = '' } = factsOf(provider);
  try {
    const models = await listModels({ provider, baseUrl, keys: [] }, { fetch }, signal);
    return { provider, label, baseUrl, models };
  } catch (error) {
    // Nobody is there, or somebody else: either way there is no model server.
    if (error instanceof Error) return undefined;
    throw error;
  }
};

/** Looks for Ollama, LM Studio, llama.cpp and vLLM on their usual ports, at all of them at once. Never longer than about a second. */
export const discoverLocalServers = async (fetch: Fetch, signal: AbortSignal, options: { readonly timeoutMs?: number } = {}): Promise<readonly LocalServer[]> => {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs ?? patienceMs)]);
  const local = providerNames.filter((name) => factsOf(name).local === true);
  const found = await Promise.all(local.map((provider) => lookAt(fetch, provider, soon)));
  signal.throwIfAborted();
  return found.filter((server) => server !== undefined);
};
