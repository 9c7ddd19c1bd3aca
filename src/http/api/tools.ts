import { z } from 'zod';
import type { WholeQuestion } from '../../gateway/api/api-gate.ts';
import { ApiError } from './api-error.ts';

const functionName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be up to 64 letters, digits, _ and -');

/** The fields of a function that a client brings; both APIs have them, at different depths. */
export const functionFields = { name: functionName, description: z.string().nullish(), parameters: z.record(z.string(), z.unknown()).nullish(), strict: z.boolean().nullish() };

export interface ClientFunction {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined;
}

/** `auto` is what happens anyway. */
export type Choice = 'auto' | 'none' | 'required' | { readonly name: string };

type Tools = Pick<WholeQuestion, 'clientTools' | 'toolChoice'>;

/** The client's functions as the agent gets them, and what of them has to be called. */
export const clientTools = (functions: readonly ClientFunction[], choice: Choice | undefined): Tools => {
  if (typeof choice === 'object' && !functions.some(({ name }) => name === choice.name)) throw new ApiError(400, `tool_choice names '${choice.name}', which is not among the tools.`, { code: 'invalid_value', param: 'tool_choice' });
  if (choice === 'required' && functions.length === 0) throw new ApiError(400, "tool_choice 'required' needs tools.", { code: 'invalid_value', param: 'tool_choice' });
  // `none` is about the client's tools; what the agent has it may still use to find its answer.
  if (functions.length === 0 || choice === 'none') return {};
  const tools = functions.map(({ name, description, parameters }) => ({ name, description: description ?? '', parameters: parameters ?? { type: 'object', properties: {} } }));
  return { clientTools: tools, ...(choice !== undefined && choice !== 'auto' && { toolChoice: choice }) };
};
