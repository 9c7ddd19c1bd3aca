import { ModelError } from '../../../core/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { ReasoningEffort } from '../../../core/reasoning-effort.ts';
import type { ModelProvider } from '../contract.ts';
import { newDemoProvider } from '../demo/demo.ts';
import type { DescribeImages } from '../media/describe-images.ts';
import { newEndpoint } from './endpoint.ts';
import type { ImageInput } from './endpoint.ts';
import { metered } from '../metered.ts';
import type { SpendMeter } from '../metered.ts';
import type { ModelOptions } from '../options.ts';
import type { Prices } from '../facts/prices.ts';
import { factsOf } from './providers.ts';
import type { ProviderName } from './providers.ts';

/** What names an endpoint, wherever in the settings it stands. */
export interface EndpointChoice {
  readonly provider: ProviderName | 'demo';
  readonly base_url?: string | undefined;
  readonly api_key?: string | undefined;
  readonly api_keys?: readonly string[] | undefined;
  /** What the variable holds that was named. */
  readonly key_env?: string | undefined;
}

/** Where an endpoint is, and with which keys it is spoken to. */
export interface EndpointAddress {
  readonly provider: ProviderName;
  readonly baseUrl: string;
  readonly keys: readonly string[];
}

const given = (values: readonly (string | undefined)[]): readonly string[] => [...new Set(values.filter((value) => value !== undefined && value !== ''))] as readonly string[];

/** What is written beside the choice counts; what is not is as usual for the provider (`model.endpoints`). */
export const addressOf = (choice: EndpointChoice & { readonly provider: ProviderName }, usual: Partial<ModelOptions['endpoints']> = {}): EndpointAddress => {
  const { provider } = choice;
  const written = given([choice.api_key, choice.key_env, ...(choice.api_keys ?? [])]);
  const keys = written.length > 0 ? written : given([usual[provider]?.api_key]);
  const [baseUrl = ''] = given([choice.base_url, usual[provider]?.base_url, factsOf(provider).baseUrl]);
  return { provider, baseUrl, keys };
};

export interface ProviderDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the images of a conversation lie; without it the model only reads their names. */
  readonly mediaFolder?: string;
  readonly imageInput?: ImageInput;
  readonly describeImages?: DescribeImages;
  /** Lets calls through and counts them. */
  readonly meter?: SpendMeter;
}

const pricesOf = (options: ModelOptions): Prices =>
  Object.fromEntries(
    Object.entries(options.prices).map(([name, { input, output, cache_read: cacheRead, cache_write: cacheWrite }]) => [
      name,
      { input, output, ...(cacheRead !== undefined && { cacheRead }), ...(cacheWrite !== undefined && { cacheWrite }) },
    ]),
  );

/** What is the same for every endpoint of one configuration. */
const shared = (options: ModelOptions, deps: ProviderDeps) => {
  const effort: ReasoningEffort | undefined = options.reasoning_effort;
  return {
    cacheTtl: options.prompt_cache_ttl,
    prices: pricesOf(options),
    ...(options.request_timeout_ms !== undefined && { requestTimeoutMs: options.request_timeout_ms }),
    ...(options.stall_timeout_ms !== undefined && { stallTimeoutMs: options.stall_timeout_ms }),
    ...(effort !== undefined && { effort }),
    ...(deps.mediaFolder !== undefined && { mediaFolder: deps.mediaFolder }),
    ...(deps.imageInput !== undefined && { imageInput: deps.imageInput }),
    ...(deps.describeImages !== undefined && { describeImages: deps.describeImages }),
  };
};

/** Nobody can be asked there, which is said to whoever tries. */
const withoutAddress = (name: ProviderName): ModelProvider => ({
  name,
  stream() {
    throw new ModelError('model_not_found', `nobody has said where ${name} is; set model.endpoints.${name}.base_url`);
  },
});

/** A provider for any endpoint of the settings; what is not said about it there is as in `options`. */
export const providerFor = (choice: EndpointChoice, options: ModelOptions, deps: ProviderDeps): ModelProvider => {
  const { provider } = choice;
  if (provider === 'demo') return newDemoProvider({ clock: deps.clock });
  const { baseUrl, keys } = addressOf({ ...choice, provider }, options.endpoints);
  if (baseUrl === '') return withoutAddress(provider);
  const { wire, local } = factsOf(provider);
  const endpoint = newEndpoint({ ...shared(options, deps), name: provider, wire, baseUrl, keys, ...(local !== undefined && { local }) }, deps);
  return deps.meter === undefined ? endpoint : metered(endpoint, deps.meter);
};

/** The provider that the `model` section asks for. */
export const createProvider = (options: ModelOptions, deps: ProviderDeps): ModelProvider => providerFor(options, options, deps);
