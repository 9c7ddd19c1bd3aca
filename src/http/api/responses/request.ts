import { z } from 'zod';
import { reasoningEfforts } from '../../../core/reasoning-effort.ts';
import { content } from '../content.ts';
import { outputFormat } from '../output-format.ts';
import { functionFields } from '../tools.ts';

/** Something that was said, called or answered. */
export const item = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message'), role: z.enum(['user', 'system', 'developer', 'assistant']), content }),
  z.looseObject({ type: z.literal('function_call'), call_id: z.string().min(1), name: z.string(), namespace: z.string().nullish(), arguments: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: z.string().min(1), output: content }),
  z.looseObject({ type: z.literal('reasoning') }),
]);

const reference = z.looseObject({ type: z.literal('item_reference'), id: z.string().min(1) });

const withType = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || ('type' in value && value.type !== null)) return value;
  return { ...value, type: 'role' in value ? 'message' : 'item_reference' };
};

/** Messages and references may leave their type out. */
const inputItem = z.preprocess(withType, z.discriminatedUnion('type', [...item.options, reference]));

const bareTool = z.looseObject({ type: z.string(), ...functionFields, name: functionFields.name.optional() });

const tool = bareTool.extend({ tools: z.array(bareTool).max(128).nullish() });

const choice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({ type: z.literal('function'), name: z.string() }),
  z.looseObject({ type: z.literal('allowed_tools'), mode: z.enum(['auto', 'required']), tools: z.array(z.looseObject({ type: z.string(), name: z.string().optional() })) }),
]);

const metadata = z.record(z.string().max(64), z.string().max(512)).refine((pairs) => Object.keys(pairs).length <= 16, 'at most 16 pairs');

/** The body of `POST /v1/responses`. What only steers a bare model is accepted and given back as it was. */
export const responseRequest = z.looseObject({
  model: z.string().min(1).nullish(),
  input: z.union([z.string(), z.array(inputItem).min(1).max(10_000)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().min(1).nullish(),
  conversation: z.union([z.string().min(1), z.looseObject({ id: z.string().min(1) }).transform(({ id }) => id)]).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: choice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: z.looseObject({ effort: z.enum(reasoningEfforts).nullish(), summary: z.string().nullish() }).nullish(),
  text: z.looseObject({ format: outputFormat.nullish(), verbosity: z.enum(['low', 'medium', 'high']).nullish() }).nullish(),
  metadata: metadata.nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  max_tool_calls: z.int().min(1).nullish(),
  safety_identifier: z.string().max(64).nullish(),
  prompt_cache_key: z.string().nullish(),
});

export type InputItem = z.output<typeof item>;
/** A request as it came: items that were sent or made before may be named by their ids. */
export type BareRequest = z.output<typeof responseRequest>;
/** A request whose input says everything itself. */
export type ResponseRequest = BareRequest & { readonly input: string | readonly InputItem[] };
