import { z } from 'zod';
import { content } from '../content.ts';

const said = z.looseObject({ type: z.literal('message').default('message'), role: z.enum(['user', 'system', 'developer', 'assistant']), content });

/** The body of `POST /v1/runs`. */
export const runRequest = z.looseObject({
  model: z.string().min(1).nullish(),
  input: z.union([z.string(), z.array(said).min(1).max(10_000)]),
  instructions: z.string().nullish(),
  /** What was said before, when the client keeps the conversation. */
  conversation_history: z.array(said).max(10_000).nullish(),
  previous_response_id: z.string().min(1).nullish(),
  session_id: z.string().min(1).max(256).nullish(),
});

export type RunRequest = z.output<typeof runRequest>;

/** The body of `POST /v1/runs/{id}/approval`. */
export const approvalRequest = z.looseObject({
  choice: z.string().min(1).max(4000),
  all: z.boolean().nullish(),
  resolve_all: z.boolean().nullish(),
  approval_id: z.string().min(1).max(20).nullish(),
});

/** The body of `POST /v1/runs/{id}/steer`. */
export const steerRequest = z.looseObject({ input: z.string().trim().min(1).max(65_536) });
