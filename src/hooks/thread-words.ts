import type { MessagePort } from 'node:worker_threads';
import { z } from 'zod';

/** What a thread begins with. */
export interface ThreadData {
  readonly port: MessagePort;
  /** The module with the hook's code. */
  readonly path: string;
}

export interface ThreadCall {
  readonly id: number;
  readonly event: string;
  readonly context: unknown;
}

/** What a thread says: that it is ready, or cannot be, and how its calls have ended. An answer is JSON. */
export type ThreadWord = Readonly<z.input<typeof threadWord>>;

/** A word as it is heard. */
export type HeardWord = Readonly<z.output<typeof threadWord>>;

const fromJson = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('is no JSON');
    return z.NEVER;
  }
});

/** A hook's code can reach the port of its thread and say anything on it. */
export const threadWord = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('broken'), problem: z.string() }),
  z.object({ type: z.literal('answer'), id: z.number(), json: fromJson }),
  z.object({ type: z.literal('failed'), id: z.number(), code: z.enum(['failed', 'bad_answer']), problem: z.string() }),
]);
