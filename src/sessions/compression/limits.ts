import { estimateTokens, windowOf } from '../../agent/context.ts';
import type { CompressionOptions } from './options.ts';

/** The model that will read a conversation, and what it reads beside it. */
export interface ReaderFacts {
  /** As its endpoint calls it. */
  readonly model: string;
  readonly contextTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly systemBytes: number;
  readonly toolBytes: number;
}

/** How much room a conversation has, in tokens. */
export interface RoomLimits {
  readonly windowTokens: number;
  /** Of prompt and tools, which stand before every conversation. */
  readonly fixedTokens: number;
  /** What the conversation may take at most, so that the answer has its room too. */
  readonly budgetTokens: number;
  /** From here on it is summarised. */
  readonly thresholdTokens: number;
  /** What the newest messages may keep of that. */
  readonly tailTokens: number;
  /** What the beginning may keep of that. */
  readonly headTokens: number;
}

const wideWindowTokens = 512_000;
const leastShareOfNarrowWindow = 0.75;
const mostTokens = 256_000;

const thresholdShare = (options: CompressionOptions, model: string, windowTokens: number): number => {
  const [fitting] = Object.keys(options.model_thresholds)
    .filter((part) => model.includes(part))
    .toSorted((a, b) => b.length - a.length);
  const named = fitting === undefined ? undefined : options.model_thresholds[fitting];
  return named ?? (windowTokens < wideWindowTokens ? Math.max(options.threshold, leastShareOfNarrowWindow) : options.threshold);
};

export const roomLimits = (options: CompressionOptions, reader: ReaderFacts): RoomLimits => {
  const { windowTokens, outputTokens } = windowOf(reader);
  const readable = windowTokens - outputTokens;
  const fixedTokens = estimateTokens(reader.systemBytes) + estimateTokens(reader.toolBytes);
  const budgetTokens = Math.max(0, readable - fixedTokens);
  const share = Math.min(readable * thresholdShare(options, reader.model, windowTokens), mostTokens);
  // Where prompt and tools fill the share, the conversation still gets half of what is left before anything is summarised.
  const thresholdTokens = Math.floor(Math.max(share - fixedTokens, Math.min(budgetTokens, share) / 2));
  const tailTokens = Math.floor(thresholdTokens * options.target_ratio);
  return { windowTokens, fixedTokens, budgetTokens, thresholdTokens, tailTokens, headTokens: Math.floor(tailTokens / 2) };
};

const leastSummaryTokens = 2_000;
const mostSummaryTokens = 12_000;
const shareOfContent = 0.2;
const shareOfWindow = 0.05;
const shortestSummaryTokens = 256;

/** How long a summary of so much should be. A small window wants a short one, whatever it has to hold. */
export const summaryTokens = (contentTokens: number, windowTokens: number): number =>
  Math.floor(Math.max(shortestSummaryTokens, Math.min(Math.max(contentTokens * shareOfContent, leastSummaryTokens), mostSummaryTokens, windowTokens * shareOfWindow)));
