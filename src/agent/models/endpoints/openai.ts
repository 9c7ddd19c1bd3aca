import type { ModelProvider } from '../contract.ts';
import { newEndpoint } from './endpoint.ts';
import type { EndpointDeps, EndpointOptions } from './endpoint.ts';

export interface OpenAiOptions extends Omit<EndpointOptions, 'name' | 'wire' | 'keys'> {
  readonly apiKey?: string;
}

/** Any endpoint that speaks OpenAI's chat completions. */
export const newOpenAiProvider = ({ apiKey, ...options }: OpenAiOptions, deps: EndpointDeps): ModelProvider =>
  newEndpoint({ ...options, name: 'openai', wire: 'chat', keys: apiKey === undefined ? [] : [apiKey] }, deps);
