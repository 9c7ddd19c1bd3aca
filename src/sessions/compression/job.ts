import { addUsage } from '../../core/transcript.ts';
import type { Usage } from '../../core/transcript.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Claim } from '../../store/lanes/lanes.ts';
import type { CompressionCause } from '../../store/sessions/compressions.ts';
import type { Store } from '../../store/store.ts';
import type { Level } from './boundaries.ts';
import type { RoomLimits } from './limits.ts';
import type { CompressionOptions } from './options.ts';
import type { Measure } from './plan.ts';
import type { Summariser } from './summarise.ts';

/** What a `session:compress` event says. */
export interface CompressedFacts {
  readonly sessionId: string;
  readonly cause: CompressionCause;
  /** How often this conversation was compressed so far. */
  readonly count: number;
  readonly before: Measure;
  readonly after: Measure;
}

export interface CompressionParts extends Summariser {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly options: CompressionOptions;
  /** Tools whose newest result stays, because their state is read from it. */
  readonly keepResultsOf: readonly string[];
  onCompressed?(facts: CompressedFacts): void;
}

/** One conversation that needs room, held by whoever has its lane. */
export interface CompressionJob {
  readonly sessionId: string;
  readonly claim: Claim;
  readonly room: RoomLimits;
  readonly cause: CompressionCause;
  /** What the conversation is to come down to. */
  readonly goalTokens: number;
  /** Where to begin: an earlier attempt was not enough. */
  readonly level: Level;
  /** Real tokens per estimated one. */
  readonly scale: number;
  readonly focus?: string | undefined;
  /** Keep exactly the last so many exchanges. */
  readonly keepExchanges?: number | undefined;
}

/** A job under way. */
export interface Work {
  readonly parts: CompressionParts;
  readonly job: CompressionJob;
  readonly signal: AbortSignal;
  readonly startedMs: number;
  readonly before: Measure;
  now: Measure;
  usage: Usage;
  /** Bytes of conversation that the summariser is given at once. */
  pieceBytes: number;
  /** The model was asked in vain: what is left is listed without it. */
  withoutModel: boolean;
  /** What went wrong, for people. */
  error: string | undefined;
}

export const addToUsage = (work: Work, usage: Usage): void => void (work.usage = addUsage(work.usage, usage));

/** How one pass ended. */
export type PassEnd = 'gained' | 'nothing' | 'failed' | 'resting' | 'aborted';
