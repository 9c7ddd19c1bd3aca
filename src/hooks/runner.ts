import type { CallLimit } from './within-limit.ts';

/** Calls the code of one hook. What it answers is plain JSON; null when it has nothing to say. */
export interface HookRunner {
  /** Rejects with a `HookError`. A call whose time is up has been ended, or is ended soon, and can hurt nobody. */
  call(event: string, context: unknown, limit: CallLimit): Promise<unknown>;
  close(): Promise<void>;
}

/** An answer may be this long, as JSON. */
export const mostAnswerBytes = 256 * 1024;
