import { countOf, listOf, recordOf, textOf } from '../wires/json-fields.ts';
import { readText } from '../wires/read-answer.ts';
import { wires } from '../wires/wires.ts';
import type { EndpointAddress } from './create-provider.ts';
import { addressBelow } from './endpoint.ts';
import { factsOf } from './providers.ts';
import type { ProviderName } from './providers.ts';

export type Fetch = typeof fetch;

export interface ListedModel {
  readonly id: string;
  /** How much it can read at once, where the endpoint says so. */
  readonly contextTokens?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields in which endpoints say how much a model reads; what is loaded counts before what would be possible. */
const windowFields = ['loaded_context_length', 'max_model_len', 'context_length', 'context_window', 'max_context_length', 'max_input_tokens'] as const;

const maxModels = 2000;
const maxListBytes = 8 * 1024 * 1024;

const windowOf = (entry: Fields): number | undefined => {
  const said = [...windowFields.map((field) => countOf(entry[field])), countOf(recordOf(entry['meta'])?.['n_ctx'])];
  return said.find((tokens) => tokens !== undefined && tokens > 0);
};

const listedModel = (value: unknown): ListedModel | undefined => {
  const entry = recordOf(value);
  const id = (textOf(entry?.['id']) ?? '').replace(/^models\//, '');
  if (entry === undefined || id === '') return undefined;
  const contextTokens = windowOf(entry);
  return { id, ...(contextTokens !== undefined && { contextTokens }) };
};

/** The models in an endpoint's list; undefined when it is none. */
export const readModelList = (json: unknown): readonly ListedModel[] | undefined => {
  const list = recordOf(json);
  if (list === undefined || !('data' in list)) return undefined;
  const entries = listOf(list['data']) ?? (list['data'] === null ? [] : undefined);
  return entries?.slice(0, maxModels).flatMap((entry) => listedModel(entry) ?? []);
};

/** Where servers on the owner's machine say what they have really loaded, and how to read it: tokens by model, or for whichever runs. */
const loadedWindows: Readonly<Partial<Record<ProviderName, { readonly path: string; read(json: unknown): ReadonlyMap<string, number> }>>> = {
  ollama: { path: '/api/ps', read: (json) => windowsBy(recordOf(json)?.['models'], 'model') },
  lmstudio: { path: '/api/v0/models', read: (json) => windowsBy(recordOf(json)?.['data'], 'id') },
  llamacpp: {
    path: '/props',
    read(json) {
      const tokens = countOf(recordOf(recordOf(json)?.['default_generation_settings'])?.['n_ctx']);
      return new Map(tokens === undefined ? [] : [[anyModel, tokens]]);
    },
  },
};

const anyModel = '*';

const windowsBy = (list: unknown, name: string): ReadonlyMap<string, number> =>
  new Map(
    (listOf(list) ?? []).flatMap((value): readonly (readonly [string, number])[] => {
      const entry = recordOf(value) ?? {};
      const tokens = windowOf(entry);
      const id = textOf(entry[name]);
      return tokens === undefined || id === undefined ? [] : [[id, tokens]];
    }),
  );

const getJson = async (fetch: Fetch, url: URL, init: { readonly headers?: Readonly<Record<string, string>>; readonly signal: AbortSignal }): Promise<unknown> => {
  const response = await fetch(url, { ...init, redirect: 'error' });
  if (!response.ok) throw new Error(`the endpoint answered with status ${response.status}`);
  const { text, whole } = await readText(response.body, maxListBytes);
  if (!whole) throw new Error('the list of models is too large');
  return JSON.parse(text) as unknown;
};

const withLoaded = async (fetch: Fetch, address: EndpointAddress, models: readonly ListedModel[], signal: AbortSignal): Promise<readonly ListedModel[]> => {
  const source = loadedWindows[address.provider];
  if (source === undefined) return models;
  const root = new URL(source.path, address.baseUrl);
  // Older servers do not have it; then the list is what it is.
  const loaded = await getJson(fetch, root, { signal }).then(source.read, () => new Map<string, number>());
  return models.map((model) => {
    const contextTokens = loaded.get(model.id) ?? loaded.get(anyModel) ?? model.contextTokens;
    return contextTokens === undefined ? model : { ...model, contextTokens };
  });
};

/** The models that an endpoint has. Rejects when it cannot be asked or does not answer with a list. */
export const listModels = async (address: EndpointAddress, deps: { readonly fetch: Fetch }, signal: AbortSignal): Promise<readonly ListedModel[]> => {
  const wire = wires[factsOf(address.provider).wire];
  const url = addressBelow(address.baseUrl, '/models');
  if (wire.name === 'anthropic') url.searchParams.set('limit', '1000');
  const key = address.keys[0];
  const headers = { accept: 'application/json', ...wire.headers, ...(key !== undefined && wire.authorize(key)) };
  const models = readModelList(await getJson(deps.fetch, url, { headers, signal }));
  if (models === undefined) throw new Error('the endpoint did not answer with a list of models');
  return withLoaded(deps.fetch, address, models, signal);
};
