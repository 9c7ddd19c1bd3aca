import type { MessagePort } from 'node:worker_threads';

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
export type ThreadWord =
  | { readonly type: 'ready' }
  | { readonly type: 'broken'; readonly problem: string }
  | { readonly type: 'answer'; readonly id: number; readonly json: string }
  | { readonly type: 'failed'; readonly id: number; readonly code: 'failed' | 'bad_answer'; readonly problem: string };
