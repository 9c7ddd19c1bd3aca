import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from '../gateway-process.ts';
import { median } from '../quantile.ts';

export interface Sample {
  readonly residentBytes: number;
  readonly openFiles: number;
}

export interface Third {
  /** Medians. */
  readonly residentBytes: number;
  readonly openFiles: number;
}

export interface Flatness {
  readonly first: Third;
  readonly last: Third;
  readonly mostBytes: number;
  readonly mostFiles: number;
}

const everyMs = 500;

/** What of the last third may be more than in the first before it is growth: the collector's moods, a connection more. */
const memoryShare = 1.25;
const memoryBytes = 16 * 1024 * 1024;
const files = 10;

/** Undefined where the system does not tell, or the process is just being replaced. */
const look = (pid: number): Sample | undefined => {
  try {
    const bytes = residentBytes(pid);
    return bytes === undefined ? undefined : { residentBytes: bytes, openFiles: readdirSync(`/proc/${pid}/fd`).length };
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/** Looks at a process now and then, whichever it is at the time, until the signal. */
export const sampleUntil = async (pid: () => number, signal: AbortSignal): Promise<readonly Sample[]> => {
  const samples: Sample[] = [];
  while (!signal.aborted) {
    const sample = look(pid());
    if (sample !== undefined) samples.push(sample);
    await sleep(everyMs);
  }
  return samples;
};

const thirdOf = (samples: readonly Sample[]): Third => ({ residentBytes: median(samples.map((sample) => sample.residentBytes)), openFiles: median(samples.map(({ openFiles }) => openFiles)) });

/** The first third of the time beside the last; undefined when there is too little to compare. */
export const flatnessOf = (samples: readonly Sample[]): Flatness | undefined => {
  const size = Math.floor(samples.length / 3);
  if (size < 3) return undefined;
  return {
    first: thirdOf(samples.slice(0, size)),
    last: thirdOf(samples.slice(-size)),
    mostBytes: Math.max(...samples.map((sample) => sample.residentBytes)),
    mostFiles: Math.max(...samples.map(({ openFiles }) => openFiles)),
  };
};

/** What has grown, in words. */
export const growthOf = ({ first, last }: Flatness): readonly string[] => [
  ...(last.residentBytes > first.residentBytes * memoryShare + memoryBytes ? [`resident memory grew from ${first.residentBytes} to ${last.residentBytes} bytes`] : []),
  ...(last.openFiles > first.openFiles + files ? [`open files grew from ${first.openFiles} to ${last.openFiles}`] : []),
];
