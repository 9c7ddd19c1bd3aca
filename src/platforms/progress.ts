import { PlatformError } from '../core/errors.ts';
import type { PlatformErrorCode } from '../core/errors.ts';
import type { AccountData } from './contract.ts';

const prefix = 'sent:';

/** Longer than any message is still tried. */
const keepMs = 7 * 24 * 3600 * 1000;

interface Progress {
  readonly atMs: number;
  /** Ids of the messages that each finished step has made. */
  readonly done: readonly (readonly string[])[];
}

/** Only this file writes it. */
const readProgress = (value: string | undefined): Progress => (value === undefined ? { atMs: 0, done: [] } : (JSON.parse(value) as Progress));

const isFinal = (error: unknown): boolean => error instanceof PlatformError && error.rule.retry === 'never';

/** Without its memory a message must not count as sent: what is shown already could be shown again. */
const otherwise =
  (code: PlatformErrorCode) =>
  (cause: unknown): never => {
    throw new PlatformError(code, 'the progress of the message could not be stored', { cause });
  };

export interface Progressing {
  readonly data: AccountData;
  readonly key: string;
  readonly nowMs: number;
}

/**
 * Runs the steps of one message in order and answers all their ids. When a step fails, those before it are remembered
 * under `key`, so that a repeat shows nothing twice. A message of one step needs no memory.
 */
export const resumable = async <Step>(
  { data, key, nowMs }: Progressing,
  steps: readonly Step[],
  run: (step: Step, index: number) => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const [only] = steps;
  if (only !== undefined && steps.length === 1) return run(only, 0);
  const name = `${prefix}${key}`;
  const done = [...readProgress(await data.get(name).catch(otherwise('unavailable'))).done];
  try {
    for (const [index, step] of steps.entries()) {
      if (index < done.length) continue;
      done.push(await run(step, index));
      if (index < steps.length - 1) await data.set(name, JSON.stringify({ atMs: nowMs, done } satisfies Progress)).catch(otherwise('unknown_outcome'));
    }
  } catch (error) {
    if (isFinal(error)) await data.remove(name).catch(otherwise('unknown_outcome'));
    throw error;
  }
  await data.remove(name).catch(otherwise('unknown_outcome'));
  return done.flat();
};

/** Forgets messages that were begun and given up. */
export const forgetProgress = async (data: AccountData, nowMs: number): Promise<void> => {
  for (const { key, value } of await data.list(prefix)) if (nowMs - readProgress(value).atMs > keepMs) await data.remove(key);
};
