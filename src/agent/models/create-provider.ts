import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ModelProvider } from './contract.ts';
import { newDemoProvider } from './demo.ts';
import { newOpenAiProvider } from './openai.ts';
import type { ModelOptions } from './options.ts';

export interface ProviderDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the images of a conversation lie; without it the model only reads their names. */
  readonly mediaFolder?: string;
}

/** The provider that the `model` section asks for. */
export const createProvider = (options: ModelOptions, deps: ProviderDeps): ModelProvider => {
  switch (options.provider) {
    case 'demo':
      return newDemoProvider({ clock: deps.clock });
    case 'openai':
      return newOpenAiProvider(
        {
          baseUrl: options.base_url,
          requestTimeoutMs: options.request_timeout_ms,
          stallTimeoutMs: options.stall_timeout_ms,
          ...(options.api_key !== undefined && { apiKey: options.api_key }),
          ...(deps.mediaFolder !== undefined && { mediaFolder: deps.mediaFolder }),
        },
        deps,
      );
    default:
      return options.provider satisfies never;
  }
};
