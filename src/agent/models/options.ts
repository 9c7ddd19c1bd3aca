import { z } from 'zod';
import { defineSection } from '../../config/section.ts';
import { reasoningEfforts } from '../../core/reasoning-effort.ts';
import type { ImageInput } from './endpoints/endpoint.ts';
import { factsOf, providerNames } from './endpoints/providers.ts';
import type { ProviderFacts, ProviderName } from './endpoints/providers.ts';
import { pricingVersion } from './facts/prices.ts';

/** A connection that is silent for longer is not coming back. */
const longestWaitMs = 900_000;

const isPlainHttpUrl = (value: string): boolean => {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
};

/** Where an endpoint is. */
export const address = z
  .string()
  .trim()
  .refine((value) => value === '' || isPlainHttpUrl(value), 'must be an http or https address without user name and password; the key belongs into api_key');

const key = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]*$/, 'contains characters that cannot be part of a key');

const names = ['demo', ...providerNames] as const;

const needsAddress = (options: { readonly provider: string; readonly base_url?: string | undefined }, context: z.RefinementCtx): void => {
  if (options.provider !== 'custom' || (options.base_url ?? '') !== '') return;
  context.addIssue({ code: 'custom', path: ['base_url'], message: 'provider custom needs the address of its endpoint' });
};

/** The usual place and key of one provider, whoever asks it: the main model, a fallback or a smaller job. */
const endpointOptions = ({ label, baseUrl, keyEnv, baseUrlEnv }: ProviderFacts) =>
  z
    .strictObject({
      api_key: key
        .optional()
        .describe(`Key for ${label}, wherever it is named without a key of its own.`)
        .meta({ secret: true, ...(keyEnv !== undefined && { env: keyEnv }) }),
      base_url: address
        .optional()
        .describe(`Address of ${label}${baseUrl === undefined ? '' : `, when it is not ${baseUrl}`}.`)
        .meta({ ...(baseUrlEnv !== undefined && { env: baseUrlEnv }) }),
    })
    .prefault({})
    .meta({ shorthand: 'api_key' });

const endpoints = z.strictObject(
  Object.fromEntries(providerNames.map((name) => [name, endpointOptions(factsOf(name))])) as { readonly [Name in ProviderName]: ReturnType<typeof endpointOptions> },
);

const price = z.strictObject({
  input: z.number().min(0).describe('US dollars per million tokens read.'),
  output: z.number().min(0).describe('US dollars per million tokens written.'),
  cache_read: z.number().min(0).optional().describe('The same for tokens read from a cache; as `input` when it is not set.'),
  cache_write: z.number().min(0).optional().describe('The same for tokens written into a cache; as `input` when it is not set.'),
});

const modelOptions = z
  .strictObject({
    provider: z
      .enum(names)
      .default('demo')
      .describe(
        'Who answers. `demo` is built in and needs nothing; `openai` is any endpoint that speaks OpenAI chat completions, `openai-responses` one that speaks OpenAI Responses, `anthropic` one that speaks Anthropic Messages; the others are well-known endpoints and servers on your own machine, by name.',
      ),
    default: z.string().trim().min(1).optional().describe('Name of the model, as the endpoint calls it.'),
    base_url: address.optional().describe('Address of the endpoint, up to and without /chat/completions, /responses or /messages. `custom` needs one; the others have theirs.'),
    api_key: key.optional().describe('Key of the endpoint; when it is not set, the one below `endpoints`. Servers on your own machine often need none.').meta({ secret: true }),
    api_keys: z.array(key).optional().describe('Further keys of the same endpoint. When one is refused, empty or limited, the next is used while it rests.').meta({ secret: true }),
    reasoning_effort: z.enum(reasoningEfforts).optional().describe('How much the model may think before it speaks. The endpoint decides when it is not set.'),
    prompt_cache_ttl: z.enum(['5m', '1h']).default('5m').describe('How long Anthropic remembers the beginning of a conversation. `1h` costs more to write and pays where people answer slowly.'),
    request_timeout_ms: z
      .int()
      .min(1000)
      .max(longestWaitMs)
      .optional()
      .describe('How long to wait for the first piece of an answer; 120000 when it is not set, 600000 for models that are known to think in silence.'),
    stall_timeout_ms: z
      .int()
      .min(1000)
      .max(longestWaitMs)
      .optional()
      .describe('How long to wait for the next piece of an answer; 90000 when it is not set, 600000 for models that are known to think in silence.'),
    max_retries: z.int().min(0).max(10).default(3).describe('How often a call is repeated after a failure that may pass.'),
    max_output_tokens: z.int().min(1).optional().describe('Longest single answer, in tokens. The endpoint decides when it is not set.'),
    context_length: z.int().min(1024).optional().describe('How many tokens the model can read at once. When it is not set, the endpoint is believed if it says so, then what is known about the model, then 128000.'),
    endpoints: endpoints.prefault({}).describe('Keys and addresses of well-known providers.'),
    prices: z.record(z.string(), price).default({}).describe(`What tokens cost, by the name of the model or the beginning of it. Goes before what the endpoint does not say and the built-in table (${pricingVersion}) does.`),
  })
  .superRefine((options, context) => {
    if (options.provider !== 'demo' && options.default === undefined) {
      const message = `provider ${options.provider} needs the name of a model: set model.default, for example \`default: ${exampleOf(options.provider)}\``;
      context.addIssue({ code: 'custom', path: ['default'], message });
    }
  })
  .superRefine(needsAddress)
  .meta({ shorthand: 'default' });

const examples: Readonly<Partial<Record<ProviderName, string>>> = {
  anthropic: 'claude-sonnet-5-5',
  openrouter: 'anthropic/claude-sonnet-5.5',
  deepseek: 'deepseek-flash',
  gemini: 'gemini-2.5-flash',
  groq: 'openai/gpt-oss-120b',
  mistral: 'mistral-large-latest',
  xai: 'grok-4.5',
  moonshot: 'kimi-k2.6',
  ollama: 'qwen3',
};

const exampleOf = (provider: ProviderName): string => examples[provider] ?? 'gpt-5-mini';

/** Which model answers, and how it is reached. `model: name` alone names the model. */
export const modelSection = defineSection('model', modelOptions.prefault({}), 'live');

export type ModelOptions = z.output<typeof modelOptions>;

/** Arrives as what the variable holds. */
const keyFromVariable = key.optional().describe('Name of the variable that holds its key; the usual one of the provider when it is not set.').meta({ secret: true, namesVariable: true });

const fallbackOptions = z
  .strictObject({
    provider: z.enum(names).describe('As `model.provider`.'),
    model: z.string().trim().min(1).optional().describe('Name of the model, as this endpoint calls it.'),
    base_url: address.optional().describe('Address of the endpoint, when it is not the usual one of the provider.'),
    key_env: keyFromVariable,
    api_key: key.optional().describe('Its key.').meta({ secret: true }),
    context_length: z.int().min(1024).optional().describe('How many tokens this model can read at once.'),
  })
  .superRefine(({ provider, model }, context) => {
    if (provider !== 'demo' && model === undefined) context.addIssue({ code: 'custom', path: ['model'], message: 'the name of a model is missing' });
  })
  .superRefine(needsAddress);

/** Who answers the rest of a turn when `model` cannot, in this order. The next turn begins with `model` again. */
export const fallbackSection = defineSection('fallback_providers', z.array(fallbackOptions).default([]), 'live');

export type FallbackOptions = z.output<typeof fallbackOptions>;

const auxiliaryOptions = z
  .strictObject({
    provider: z.enum(['auto', ...names]).default('auto').describe('As `model.provider`; `auto` is the main model.'),
    model: z.string().trim().optional().describe('Name of the model, as this endpoint calls it. With `auto`: another model of the main endpoint.'),
    base_url: address.optional().describe('Address of the endpoint, when it is not the usual one of the provider.'),
    key_env: keyFromVariable,
    api_key: key.optional().describe('Its key.').meta({ secret: true }),
    timeout: z.number().min(1).max(longestWaitMs / 1000).default(120).describe('Seconds that it may take. Then the main model is asked instead, where it can do the job.'),
    enabled: z.boolean().optional().describe('Of `title_generation` alone: whether conversations that nobody has named get a title after their first answers. They do when it is not set.'),
    language: z.string().trim().max(60).optional().describe('Of `title_generation` alone: the language of those titles; that of the person when it is not set.'),
  })
  .superRefine(needsAddress);

/** Smaller jobs that may have a model of their own, by name. */
export const auxiliaryTasks = ['vision', 'compression', 'title_generation', 'approval', 'web_extract', 'transcription', 'speech', 'background_review'] as const;

export type AuxiliaryTask = (typeof auxiliaryTasks)[number];

/** What only one of the jobs has. */
const titleKeys = ['enabled', 'language'] as const;

const auxiliary = z
  .record(z.string(), auxiliaryOptions)
  .superRefine((tasks, context) => {
    for (const [task, options] of Object.entries(tasks)) {
      for (const name of titleKeys) if (task !== 'title_generation' && options[name] !== undefined) context.addIssue({ code: 'custom', path: [task, name], message: 'only title_generation has this' });
    }
  })
  .default({})
  .describe(`Models for smaller jobs: ${auxiliaryTasks.map((task) => `\`${task}\``).join(', ')}.`);

/** Models for smaller jobs. What is not named here is done by the main model. */
export const auxiliarySection = defineSection('auxiliary', auxiliary, 'live');

export type AuxiliaryOptions = z.output<typeof auxiliaryOptions>;

/** All that decides who is asked. */
export interface ModelSettings {
  readonly model: ModelOptions;
  readonly fallback_providers: readonly FallbackOptions[];
  readonly auxiliary: Readonly<Record<string, AuxiliaryOptions>>;
  readonly agent?: { readonly image_input_mode: ImageInput };
}

/** The model to ask for when nobody names another. */
export const defaultModel = (options: ModelOptions): string => options.default ?? options.provider;
