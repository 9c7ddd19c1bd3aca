import type { Wire } from '../wires/wire.ts';

export interface ProviderFacts {
  readonly label: string;
  readonly wire: Wire['name'];
  /** Undefined where the owner has to say it. */
  readonly baseUrl?: string;
  /** The usual variable of its key; undefined where none is needed. */
  readonly keyEnv?: string;
  readonly baseUrlEnv?: string;
  /** Assumed for a model about which nothing else is known. */
  readonly contextTokens: number;
  /** Runs on the owner's machine and costs nothing per token. */
  readonly local?: true;
}

const local = (label: string, port: number): ProviderFacts => ({ label, wire: 'chat', baseUrl: `http://127.0.0.1:${port}/v1`, contextTokens: 16_384, local: true });

/** The endpoints that are known by name. `demo` is none: it is built in. */
export const providers = {
  openai: { label: 'OpenAI chat completions', wire: 'chat', baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY', baseUrlEnv: 'OPENAI_BASE_URL', contextTokens: 128_000 },
  'openai-responses': { label: 'OpenAI Responses', wire: 'responses', baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY', baseUrlEnv: 'OPENAI_BASE_URL', contextTokens: 128_000 },
  anthropic: { label: 'Anthropic Messages', wire: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', keyEnv: 'ANTHROPIC_API_KEY', contextTokens: 200_000 },
  openrouter: { label: 'OpenRouter', wire: 'chat', baseUrl: 'https://openrouter.ai/api/v1', keyEnv: 'OPENROUTER_API_KEY', contextTokens: 128_000 },
  deepseek: { label: 'DeepSeek', wire: 'chat', baseUrl: 'https://api.deepseek.com/v1', keyEnv: 'DEEPSEEK_API_KEY', contextTokens: 128_000 },
  gemini: { label: 'Google Gemini', wire: 'chat', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', keyEnv: 'GEMINI_API_KEY', contextTokens: 1_000_000 },
  groq: { label: 'Groq', wire: 'chat', baseUrl: 'https://api.groq.com/openai/v1', keyEnv: 'GROQ_API_KEY', contextTokens: 128_000 },
  mistral: { label: 'Mistral', wire: 'chat', baseUrl: 'https://api.mistral.ai/v1', keyEnv: 'MISTRAL_API_KEY', contextTokens: 128_000 },
  xai: { label: 'xAI', wire: 'chat', baseUrl: 'https://api.x.ai/v1', keyEnv: 'XAI_API_KEY', contextTokens: 256_000 },
  moonshot: { label: 'Moonshot (Kimi)', wire: 'chat', baseUrl: 'https://api.moonshot.ai/v1', keyEnv: 'MOONSHOT_API_KEY', contextTokens: 128_000 },
  zai: { label: 'Z.ai (GLM)', wire: 'chat', baseUrl: 'https://api.z.ai/api/paas/v4', keyEnv: 'ZAI_API_KEY', contextTokens: 128_000 },
  ollama: local('Ollama', 11434),
  lmstudio: local('LM Studio', 1234),
  llamacpp: local('llama.cpp', 8080),
  vllm: local('vLLM', 8000),
  custom: { label: 'Any other endpoint with chat completions', wire: 'chat', contextTokens: 128_000 },
} as const satisfies Readonly<Record<string, ProviderFacts>>;

export type ProviderName = keyof typeof providers;

export const providerNames = Object.keys(providers) as readonly ProviderName[];

export const isProviderName = (name: string): name is ProviderName => Object.hasOwn(providers, name);

export const factsOf = (name: ProviderName): ProviderFacts => providers[name];

/** How an endpoint differs from others that speak the same. Known by its host, whatever the owner calls it. */
export interface Quirks {
  /** Newer models of OpenAI know only the second name, most other servers only the first. */
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
  /** Where a chat completion says how much to think. */
  readonly effort: 'reasoning_effort' | 'reasoning';
  /** `reasoning_content` has to come back with every tool call, even when it is empty. */
  readonly reasoningContent: boolean;
  /** A tool call without Google's signature is refused; there is a word for calls that others made. */
  readonly googleSignatures: boolean;
  /** Tells what a call cost when asked. */
  readonly tellsCost: boolean;
  /** Can be told to drop earlier thinking that no longer fits instead of refusing it. */
  readonly dropsThinking: boolean;
}

const plain: Quirks = { tokenLimit: 'max_tokens', effort: 'reasoning_effort', reasoningContent: false, googleSignatures: false, tellsCost: false, dropsThinking: false };

const byHost: readonly { readonly host: RegExp; readonly quirks: Partial<Quirks> }[] = [
  { host: /(^|\.)openai\.(com|azure\.com)$/, quirks: { tokenLimit: 'max_completion_tokens' } },
  { host: /(^|\.)openrouter\.ai$/, quirks: { effort: 'reasoning', tellsCost: true } },
  { host: /(^|\.)deepseek\.com$|(^|\.)moonshot\.(ai|cn)$/, quirks: { reasoningContent: true } },
  { host: /(^|\.)generativelanguage\.googleapis\.com$/, quirks: { googleSignatures: true } },
  { host: /(^|\.)anthropic\.com$/, quirks: { dropsThinking: true } },
];

export const quirksOf = (host: string): Quirks => ({ ...plain, ...byHost.find((each) => each.host.test(host))?.quirks });
