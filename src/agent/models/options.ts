import { z } from 'zod';
import { defineSection } from '../../config/section.ts';

/** A connection that is silent for longer is not coming back. */
const longestWaitMs = 300_000;

const isPlainHttpUrl = (value: string): boolean => {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
};

const modelOptions = z
  .strictObject({
    provider: z
      .enum(['demo', 'openai'])
      .default('demo')
      .describe('`demo` is built in and needs nothing; `openai` is any endpoint that speaks OpenAI chat completions.'),
    default: z.string().trim().min(1).optional().describe('Name of the model, as the endpoint calls it.'),
    base_url: z
      .string()
      .trim()
      .refine(isPlainHttpUrl, 'must be an http or https address without user name and password; the key belongs into model.api_key')
      .default('https://api.openai.com/v1')
      .describe('Address of the endpoint, up to and without /chat/completions.')
      .meta({ env: 'OPENAI_BASE_URL' }),
    api_key: z
      .string()
      .trim()
      .regex(/^[\x21-\x7e]*$/, 'contains characters that cannot be part of a key')
      .optional()
      .describe('Key of the endpoint. Servers on your own machine often need none.')
      .meta({ env: 'OPENAI_API_KEY', secret: true }),
    request_timeout_ms: z
      .int()
      .min(1000)
      .max(longestWaitMs)
      .default(120_000)
      .describe('How long to wait for the first piece of an answer.'),
    stall_timeout_ms: z.int().min(1000).max(longestWaitMs).default(90_000).describe('How long to wait for the next piece of an answer.'),
    max_retries: z.int().min(0).max(10).default(3).describe('How often a call is repeated after a failure that may pass.'),
    max_output_tokens: z.int().min(1).optional().describe('Longest single answer, in tokens. The endpoint decides when it is not set.'),
    context_length: z.int().min(1024).optional().describe('How many tokens the model can read at once; 128000 when it is not set.'),
  })
  .superRefine((options, context) => {
    if (options.provider !== 'openai' || options.default !== undefined) return;
    context.addIssue({
      code: 'custom',
      path: ['default'],
      message: 'provider openai needs the name of a model: set model.default, for example `default: gpt-5-mini`',
    });
  })
  .meta({ shorthand: 'default' });

/** Which model answers, and how it is reached. `model: name` alone names the model. */
export const modelSection = defineSection('model', modelOptions.prefault({}), 'live');

export type ModelOptions = z.output<typeof modelOptions>;

/** The model to ask for when nobody names another. */
export const defaultModel = (options: ModelOptions): string => options.default ?? options.provider;
