import { isProviderName } from '../endpoints/providers.ts';
import type { ProviderName } from '../endpoints/providers.ts';

export interface ModelName {
  /** Undefined: the one that is configured. */
  readonly provider: ProviderName | undefined;
  readonly model: string;
}

/** `anthropic:claude-sonnet-5-5` names an endpoint too; `qwen3:8b` does not, for nobody is called `qwen3`. */
export const parseModelName = (name: string): ModelName => {
  const colon = name.indexOf(':');
  const before = name.slice(0, Math.max(0, colon));
  return colon > 0 && isProviderName(before) ? { provider: before, model: name.slice(colon + 1) } : { provider: undefined, model: name };
};
