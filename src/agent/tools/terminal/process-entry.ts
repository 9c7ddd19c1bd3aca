import type { Writable } from 'node:stream';
import type { OutputFile } from './output-file.ts';
import type { Launch } from './sandbox.ts';
import type { Watch } from './watch-output.ts';

interface ProcessFacts {
  readonly id: string;
  readonly sessionId: string;
  readonly command: string;
  readonly cwd: string;
  readonly pid: number;
  readonly started: string | null;
  readonly startedAtMs: number;
  readonly output: OutputFile;
  readonly cleanup?: Launch['cleanup'];
}

export interface ProcessEnd {
  /** Null when nobody saw it. */
  readonly exitCode: number | null;
  readonly atMs: number;
  readonly state: 'ended' | 'lost';
}

/** One program in the background, as this gateway knows it. */
export interface BackgroundProcess extends ProcessFacts {
  /** Its end is to be told. */
  notify: boolean;
  /** Its end has been told. */
  told: boolean;
  /** The model knows of its end. */
  seen: boolean;
  /** It ended before this gateway found it. */
  wasAway: boolean;
  watch: Watch | undefined;
  /** Only of a process that this gateway has started itself. */
  stdin: Writable | undefined;
  /** Settles when its end is known and told; only of one that this gateway has started. */
  ended: Promise<void>;
  /** Settles when the last look at it is over. */
  looked: Promise<void>;
  end: ProcessEnd | undefined;
  /** How much of the output the model has polled. */
  polledBytes: number;
  /** Its end still has to be told to somebody. */
  readonly owes: boolean;
  readonly isAwaited: boolean;
  /** Resolves when it has ended; whoever awaits it learns of the end that way. Dispose of it afterwards. */
  awaitEnd(): Disposable & { readonly done: Promise<void> };
  /** Tells those who wait that it has ended. */
  wake(): void;
}

export const newProcess = (facts: ProcessFacts & { readonly notify: boolean; readonly watch?: Watch }): BackgroundProcess => {
  const waiting = new Set<() => void>();
  return {
    ...facts,
    told: false,
    seen: false,
    wasAway: false,
    watch: facts.watch,
    stdin: undefined,
    ended: Promise.resolve(),
    looked: Promise.resolve(),
    end: undefined,
    polledBytes: 0,
    get owes() {
      return this.notify && !this.seen;
    },
    get isAwaited() {
      return waiting.size > 0;
    },
    awaitEnd() {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (this.end !== undefined) resolve();
      else waiting.add(resolve);
      return { done: promise, [Symbol.dispose]: () => void waiting.delete(resolve) };
    },
    wake() {
      for (const resolve of waiting) resolve();
    },
  };
};
