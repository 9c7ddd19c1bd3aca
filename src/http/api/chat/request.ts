import { z } from 'zod';
import { reasoningEfforts } from '../../../core/reasoning-effort.ts';
import { content } from '../content.ts';
import { outputFormat } from '../output-format.ts';
import { functionFields } from '../tools.ts';

const call = z.looseObject({ id: z.string().min(1), type: z.literal('function').default('function'), function: z.looseObject({ name: z.string(), arguments: z.string() }) });

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content }),
  z.looseObject({ role: z.literal('developer'), content }),
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({ role: z.literal('assistant'), content: content.nullish(), tool_calls: z.array(call).nullish() }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content }),
]);

const tool = z.looseObject({ type: z.literal('function'), function: z.looseObject(functionFields) });

const choice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }).transform(({ function: { name } }) => ({ name })),
]);

/** The body of `POST /v1/chat/completions`. What is not named here is accepted and left to the agent's own settings. */
export const chatRequest = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1).max(10_000),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish(), include_tool_progress: z.boolean().nullish() }).nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: choice.nullish(),
  response_format: outputFormat.nullish(),
  reasoning_effort: z.enum(reasoningEfforts).nullish(),
  n: z.literal(1, 'one answer at a time').nullish(),
});

export type ChatRequest = z.output<typeof chatRequest>;
export type ChatMessage = z.output<typeof message>;
