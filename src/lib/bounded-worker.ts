import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from './clock.ts';

export interface WorkerTask<Message> {
  readonly module: URL;
  /** What the module reads as `workerData`; plain data. */
  readonly data: unknown;
  readonly timeoutMs: number;
  readonly heapMb: number;
  readonly clock: Clock;
  onMessage(message: Message): void;
}

/** `failed` is anything that the module threw. */
export type WorkerEnd = { readonly type: 'done' } | { readonly type: 'timed_out' } | { readonly type: 'out_of_memory' } | { readonly type: 'failed'; readonly cause: unknown };

/** Modules are named as they are written; in the built package they end like this one. */
const builtModule = ({ href }: URL): URL => new URL(href.replace(/\.ts$/, extname(import.meta.url)));

const outOfMemory = 'ERR_WORKER_OUT_OF_MEMORY';

const endOf = (worker: Worker): Promise<WorkerEnd> =>
  new Promise((resolve) => {
    worker.once('error', (cause: NodeJS.ErrnoException) => resolve(cause.code === outOfMemory ? { type: 'out_of_memory' } : { type: 'failed', cause }));
    worker.once('exit', () => resolve({ type: 'done' }));
  });

/**
 * Runs work that may take forever, or all memory, in a thread that can be ended. What it said until then has reached `onMessage`.
 * Rejects with the signal's reason when aborted; the thread is gone when the promise settles.
 */
export const runBoundedWorker = async <Message>(task: WorkerTask<Message>, signal: AbortSignal): Promise<WorkerEnd> => {
  signal.throwIfAborted();
  const worker = new Worker(builtModule(task.module), { workerData: task.data, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: task.heapMb } });
  const settled = new AbortController();
  try {
    worker.on('message', (message: Message) => task.onMessage(message));
    const timeUp = task.clock.sleep(task.timeoutMs, AbortSignal.any([signal, settled.signal])).then((): WorkerEnd => ({ type: 'timed_out' }));
    return await Promise.race([endOf(worker), timeUp]);
  } finally {
    settled.abort();
    await worker.terminate();
  }
};
