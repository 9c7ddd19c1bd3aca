import { extname } from 'node:path';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Clock } from '../lib/clock.ts';
import { boundedLines } from './bounded-lines.ts';
import { HookError } from './hook-error.ts';
import { threadWord } from './thread-words.ts';
import type { HeardWord, ThreadCall, ThreadData } from './thread-words.ts';

export interface ThreadOptions {
  readonly id: string;
  /** The module with the hook's code. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  onLine(line: string): void;
}

/** A thread with a hook's code in it. */
export interface Thread {
  /** Settles when the code has been loaded. */
  readonly ready: Promise<void>;
  call(event: string, context: unknown): Promise<unknown>;
  readonly ended: boolean;
  end(): Promise<void>;
}

/** Modules are named as they are written; in the built package they end like this one. */
const entry = new URL(new URL('./thread.ts', import.meta.url).href.replace(/\.ts$/, extname(import.meta.url)));
const heapMb = 256;

const endedBy = (error: NodeJS.ErrnoException | undefined): HookError => {
  if (error === undefined) return new HookError('failed', 'its thread has ended by itself');
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return new HookError('failed', `it needed more than ${heapMb} MB of memory`, { cause: error });
  return new HookError('failed', `its thread broke: ${String(error.message).slice(0, 300)}`, { cause: error });
};

const hear = (worker: Worker, options: ThreadOptions): void => {
  const lines = boundedLines(options.clock, (line) => options.onLine(line));
  for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (piece: Buffer) => lines.add(piece));
};

/** Loads a hook's code into a thread of its own, with a heap of its own and nothing of our environment but `env`. */
export const startThread = (options: ThreadOptions): Thread => {
  const { port1: port, port2 } = new MessageChannel();
  const data: ThreadData = { port: port2, path: options.path };
  const worker = new Worker(entry, { workerData: data, transferList: [port2], env: { ...options.env }, execArgv: [], stdout: true, stderr: true, name: `hook ${options.id}`, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
  hear(worker, options);
  const ready = Promise.withResolvers<void>();
  const calls = new Map<number, PromiseWithResolvers<unknown>>();
  let nextId = 1;
  let failure: HookError | undefined;
  const end = (error: HookError): void => {
    failure ??= error;
    ready.reject(failure);
    for (const call of calls.values()) call.reject(failure);
    calls.clear();
    port.close();
  };
  const onWord = (word: HeardWord): void => {
    switch (word.type) {
      case 'ready':
        return ready.resolve();
      case 'broken':
        return end(new HookError('not_started', word.problem));
      case 'answer':
        calls.get(word.id)?.resolve(word.json);
        return void calls.delete(word.id);
      case 'failed':
        calls.get(word.id)?.reject(new HookError(word.code, word.problem));
        return void calls.delete(word.id);
      default:
        throw word satisfies never;
    }
  };
  const onMessage = (message: unknown): void => {
    const heard = threadWord.safeParse(message);
    if (heard.success) return onWord(heard.data);
    end(new HookError('bad_answer', 'its thread has said something that is no answer'));
    void worker.terminate();
  };
  port.on('message', onMessage);
  worker.once('error', (error: NodeJS.ErrnoException) => end(endedBy(error)));
  worker.once('exit', () => {
    // Its last words may be heard after its end.
    for (let left = receiveMessageOnPort(port); left !== undefined; left = receiveMessageOnPort(port)) onMessage(left.message);
    end(endedBy(undefined));
  });
  // Nothing but a call keeps the process waiting for a hook.
  port.unref();
  worker.unref();
  return {
    ready: ready.promise,
    async call(event, context) {
      await ready.promise;
      if (failure !== undefined) throw failure;
      const call = Promise.withResolvers<unknown>();
      const id = nextId++;
      calls.set(id, call);
      port.postMessage({ id, event, context } satisfies ThreadCall);
      return call.promise;
    },
    get ended() {
      return failure !== undefined;
    },
    async end() {
      end(new HookError('aborted', 'its thread was ended'));
      await worker.terminate();
    },
  };
};
