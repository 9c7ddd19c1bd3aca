import { messageSizeBytes, noUsage } from '../../core/transcript.ts';
import type { Usage } from '../../core/transcript.ts';
import { holdLane } from '../../store/lanes/lanes.ts';
import { clearResults, showLess } from '../../store/sessions/archive.ts';
import { compressionFailure, countCompressions } from '../../store/sessions/compressions.ts';
import { stretchSize } from '../../store/sessions/context-size.ts';
import { expectPrompt } from '../../store/sessions/sessions.ts';
import { pageOfMessages } from '../../store/sessions/transcripts.ts';
import type { Writing } from '../../store/store.ts';
import { turnLeaseMs } from '../commit.ts';
import { exchangesStart, lastLevel, tailLimits, tailStart } from './boundaries.ts';
import type { Level, TailLimits } from './boundaries.ts';
import type { CompressionJob, CompressionParts, PassEnd, Work } from './job.ts';
import { nextPiece } from './next-piece.ts';
import { measureConversation, planPass, sizeTokens } from './plan.ts';
import type { Measure, Plan } from './plan.ts';
import { noteFailure, replacePiece } from './replace-piece.ts';
import { clearedResult, shownMessage } from './shown-message.ts';

export interface CompressionResult {
  /** `resting`: it failed lately and is left alone for a while. */
  readonly end: Exclude<PassEnd, 'gained'> | 'compressed';
  readonly before: Measure;
  readonly after: Measure;
  readonly usage: Usage;
  /** What went wrong, for people. */
  readonly error: string | undefined;
}

/** What a summariser is given at once, at most. */
const mostPieceBytes = 160_000;
const shareForPiece = 0.5;
const bytesPerToken = 4;
/** Less than this is not worth a model call. */
const leastMiddleTokens = 40;
const leastMiddleShare = 0.02;
/** Clearing alone is enough only if it leaves some room to grow; otherwise it would be done again with every message. */
const clearedShare = 0.8;
const smallResultBytes = 200;
const leastShownChars = 2_000;
/** One more try than this gains is worth. */
const progressShare = 0.95;
const longestMs = 600_000;

const clearedBytes = messageSizeBytes({ role: 'tool', content: clearedResult, toolCallId: 'call_of_usual_length_000', toolName: 'search_files' });

const limitsAt = ({ parts, job, before }: Work, level: Level): TailLimits => {
  const mostRows = Math.floor(parts.options.max_messages / 2);
  if (job.cause !== 'request') return tailLimits(level, job.room, { protectLast: parts.options.protect_last_n, most: mostRows });
  // Somebody who asks for it wants something to happen, however short the conversation is.
  return { tokens: Math.min(job.room.tailTokens, Math.floor(before.tokens * parts.options.target_ratio)), wantRows: 0, floorRows: 2, mostRows };
};

const planAt = (work: Work, level: Level): Promise<Plan> => {
  const { parts, job } = work;
  const limits = limitsAt(work, level);
  return parts.store.read((db) =>
    planPass(db, {
      sessionId: job.sessionId,
      scale: job.scale,
      protectFirst: parts.options.protect_first_n,
      headTokens: level === lastLevel ? 0 : job.room.headTokens,
      keepResultsOf: parts.keepResultsOf,
      tailStart: (rows) => (job.keepExchanges === undefined ? tailStart(rows, limits) : exchangesStart(rows, job.keepExchanges)),
    }),
  );
};

const fits = ({ parts, job, now }: Work): boolean => now.tokens <= job.goalTokens && now.messages <= parts.options.max_messages;

/** A change that needs no model; what the model will count from now on is written with it. */
const change = (work: Work, plan: Plan, after: { gainTokens: number; write: (tx: Writing) => Promise<void> }): Promise<void> => {
  const { parts, job } = work;
  const tokens = work.now.tokens - after.gainTokens;
  work.now = { ...work.now, tokens };
  return parts.store.write(async (tx) => {
    await holdLane(tx, job.claim, turnLeaseMs);
    await after.write(tx);
    await expectPrompt(tx, job.sessionId, { tokens: job.room.fixedTokens + tokens, throughId: plan.lastId });
  });
};

/** Old results of tools are what one can do without first. Only if that is enough: otherwise they are summarised with the rest. */
const clearOldResults = async (work: Work, plan: Plan): Promise<boolean> => {
  const { parts, job, now } = work;
  const results = { ...plan.middle, resultsOver: Math.max(smallResultBytes, clearedBytes) };
  const size = await parts.store.read((db) => stretchSize(db, job.sessionId, results));
  const gainTokens = sizeTokens(size, job.scale) - sizeTokens({ messages: size.messages, sizeBytes: size.messages * clearedBytes }, job.scale);
  if (now.messages > parts.options.max_messages || now.tokens - gainTokens > job.goalTokens * clearedShare) return false;
  await change(work, plan, { gainTokens, write: async (tx) => void (await clearResults(tx, job.sessionId, { ...results, overBytes: results.resultsOver, sizeBytes: clearedBytes })) });
  return true;
};

/** The last resort: of large results among the newest messages, the model sees the beginning and the end. */
const shrinkNewResults = async (work: Work, plan: Plan): Promise<boolean> => {
  const { parts, job } = work;
  const { tailFromId } = plan.boundaries;
  const rows = await parts.store.read((db) => pageOfMessages(db, job.sessionId, { afterId: tailFromId - 1, limit: 500, activeOnly: true }));
  const results = rows.filter((row) => row.message.role === 'tool');
  const chars = Math.max(leastShownChars, Math.floor((job.goalTokens * bytesPerToken) / 2 / Math.max(1, results.length)));
  const shrunk = results.flatMap((row) => {
    const sizeBytes = messageSizeBytes(shownMessage(row.message, chars));
    return sizeBytes < row.sizeBytes ? [{ id: row.id, sizeBytes, gainBytes: row.sizeBytes - sizeBytes }] : [];
  });
  if (shrunk.length === 0) return false;
  const gainTokens = sizeTokens({ messages: 0, sizeBytes: shrunk.reduce((sum, row) => sum + row.gainBytes, 0) }, job.scale);
  await change(work, plan, {
    gainTokens,
    write: async (tx) => {
      for (const { id, sizeBytes } of shrunk) await showLess(tx, id, { chars, sizeBytes });
    },
  });
  return true;
};

/** Summarises the middle of a conversation piece by piece; each piece is safe once it is done. */
const summariseMiddle = async (work: Work, level: Level): Promise<PassEnd> => {
  const { parts, job, signal } = work;
  for (let gained = false; ; ) {
    const soFar = gained ? 'gained' : 'nothing';
    if (signal.aborted) return gained ? 'gained' : 'aborted';
    const plan = await planAt(work, level);
    const least = Math.max(leastMiddleTokens, job.cause === 'threshold' ? job.room.thresholdTokens * leastMiddleShare : 0);
    const piece = plan.middleSize.tokens < least ? undefined : await parts.store.read((db) => nextPiece(db, job.sessionId, { ...plan.middle, mostBytes: work.pieceBytes }));
    if (piece === undefined || piece.rows.length === 0 || parts.clock.now() - work.startedMs > longestMs) return soFar;
    const end = await replacePiece(work, plan, piece);
    if (end === 'smaller') continue;
    if (end !== 'gained') return gained ? 'gained' : end;
    gained = true;
  }
};

const pass = async (work: Work, level: Level): Promise<PassEnd> => {
  const { parts, job } = work;
  if (level === 0 && job.cause !== 'request' && (await clearOldResults(work, await planAt(work, level)))) return 'gained';
  // Only what can wait is left alone: a model that refuses the conversation, or a person, cannot.
  const failure = job.cause === 'threshold' ? await parts.store.read((db) => compressionFailure(db, job.sessionId)) : undefined;
  const end = failure !== undefined && failure.waitMs > 0 ? 'resting' : await summariseMiddle(work, level);
  const tooLarge = job.cause === 'overflow' ? !fits(work) : work.now.tokens > job.room.budgetTokens;
  if (end === 'aborted' || level < lastLevel || job.cause === 'request' || !tooLarge) return end;
  return (await shrinkNewResults(work, await planAt(work, level))) ? 'gained' : end;
};

/** Up to three passes, each leaving less word for word, until the conversation fits. */
const runPasses = async (work: Work): Promise<PassEnd> => {
  const { parts, job } = work;
  let gained = false;
  for (let level = job.level; ; level = (level + 1) as Level) {
    const before = work.now;
    const end = await pass(work, level);
    gained ||= end === 'gained';
    if (end === 'gained') work.now = await parts.store.read((db) => measureConversation(db, job.sessionId, job.scale));
    if (end === 'failed' || end === 'aborted') return gained ? 'gained' : end;
    if (job.cause === 'request' || fits(work)) return gained ? 'gained' : end;
    const progressed = work.now.messages < before.messages || work.now.tokens < before.tokens * progressShare;
    if (level < lastLevel && (end !== 'gained' || progressed)) continue;
    if (end !== 'resting') await noteFailure(work, 'Nothing more can be gained: what must stay word for word fills the room.');
    return gained ? 'gained' : end;
  }
};

const takeUp = async (parts: CompressionParts, job: CompressionJob, signal: AbortSignal): Promise<Work> => {
  const before = await parts.store.read((db) => measureConversation(db, job.sessionId, job.scale));
  const pieceBytes = Math.min(mostPieceBytes, Math.floor(job.room.windowTokens * shareForPiece * bytesPerToken));
  return { parts, job, signal, startedMs: parts.clock.now(), before, now: before, usage: noUsage, pieceBytes, withoutModel: false, error: undefined };
};

/** How much a summary would take the place of; undefined when that is not worth one. Changes nothing, and asks nobody. */
export const previewCompression = async (parts: CompressionParts, job: CompressionJob, signal: AbortSignal): Promise<{ readonly before: Measure; readonly middle: Measure | undefined }> => {
  const work = await takeUp(parts, job, signal);
  const { middleSize } = await planAt(work, job.level);
  return { before: work.before, middle: middleSize.tokens < leastMiddleTokens ? undefined : middleSize };
};

/**
 * Makes a conversation shorter in place: a summary takes the place of its middle, and nothing is deleted. Every step is a transaction under the lane's
 * claim, so that whatever happens the conversation is either as it was or shorter. Rejects only when the store does or the lane is lost.
 */
export const compress = async (parts: CompressionParts, job: CompressionJob, signal: AbortSignal): Promise<CompressionResult> => {
  const work = await takeUp(parts, job, signal);
  const end = await runPasses(work);
  const { before, now: after, usage, error } = work;
  if (end !== 'gained') return { end, before, after, usage, error };
  const count = await parts.store.read((db) => countCompressions(db, job.sessionId));
  parts.log.info({ session: job.sessionId, cause: job.cause, messages_before: before.messages, messages_after: after.messages, tokens_before: before.tokens, tokens_after: after.tokens, ms: parts.clock.now() - work.startedMs }, 'session.compressed');
  parts.onCompressed?.({ sessionId: job.sessionId, cause: job.cause, count, before, after });
  return { end: 'compressed', before, after, usage, error };
};
