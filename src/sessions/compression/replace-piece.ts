import { ModelError } from '../../core/errors.ts';
import type { ModelErrorCode } from '../../core/errors.ts';
import { holdLane } from '../../store/lanes/lanes.ts';
import { archiveMessages } from '../../store/sessions/archive.ts';
import { compressionFailure, currentCompression, forgetCompressionFailures, insertCompression, noteCompressionFailure } from '../../store/sessions/compressions.ts';
import { expectPrompt } from '../../store/sessions/sessions.ts';
import { turnLeaseMs } from '../commit.ts';
import { addToUsage } from './job.ts';
import type { PassEnd, Work } from './job.ts';
import { summaryTokens } from './limits.ts';
import type { Piece } from './next-piece.ts';
import { sizeTokens, summarySizeTokens } from './plan.ts';
import type { Plan } from './plan.ts';
import { summarise, summariseWithout } from './summarise.ts';
import type { Summary, SummaryTask } from './summarise.ts';

/** After how long a conversation is tried again, by how often it failed in a row. */
export const restLadderMs = [60_000, 300_000, 900_000] as const;

const leastPieceBytes = 8_000;

/** These pass, or the owner has to act: a poor summary would be worse than waiting. */
const keepsTranscript: ReadonlySet<ModelErrorCode> = new Set(['auth', 'billing', 'rate_limited', 'overloaded', 'over_budget']);

/** Somebody else has changed what a plan was made for. */
class TranscriptChanged extends Error {}

export const noteFailure = async (work: Work, error: string): Promise<void> => {
  const { parts, job } = work;
  work.error = error;
  parts.log.warn({ session: job.sessionId, cause: job.cause, reason: error }, 'compression.failed');
  if (job.cause !== 'request') await parts.store.write((tx) => noteCompressionFailure(tx, job.sessionId, { error, ladderMs: restLadderMs }));
};

/** Whether a list in place of a summary is better than waiting: the conversation does not fit any more, or the model has failed too often. */
const mustGoOn = async (work: Work): Promise<boolean> => {
  const { parts, job } = work;
  if (job.cause === 'request' || parts.options.abort_on_summary_failure) return false;
  if (job.cause === 'overflow' || work.now.tokens > job.room.budgetTokens) return true;
  const failure = await parts.store.read((db) => compressionFailure(db, job.sessionId));
  return (failure?.failures ?? 0) >= restLadderMs.length;
};

/** The summary, or how the pass ends without one. */
const summaryFor = async (work: Work, task: SummaryTask): Promise<Summary | 'smaller' | PassEnd> => {
  const { parts, signal } = work;
  if (work.withoutModel) return summariseWithout(parts, task);
  try {
    return await summarise(parts, task, signal);
  } catch (error) {
    if (signal.aborted) return 'aborted';
    if (!(error instanceof ModelError)) throw error;
    if (error.rule.compress && work.pieceBytes > leastPieceBytes) {
      work.pieceBytes = Math.max(leastPieceBytes, Math.floor(work.pieceBytes / 2));
      return 'smaller';
    }
    const goOn = !keepsTranscript.has(error.code) && (await mustGoOn(work));
    await noteFailure(work, error.rule.sentence);
    if (!goOn) return 'failed';
    work.withoutModel = true;
    return summariseWithout(parts, task);
  }
};

/** Old messages out, summary in, in one transaction; refused when anything of it has changed meanwhile. */
const commitPiece = (work: Work, plan: Plan, replacement: { piece: Piece; summary: Summary; tokensAfter: number }): Promise<void> => {
  const { parts, job, now } = work;
  const { piece, summary, tokensAfter } = replacement;
  return parts.store.write(async (tx) => {
    await holdLane(tx, job.claim, turnLeaseMs);
    const current = await currentCompression(tx, job.sessionId);
    if (current?.id !== plan.compression?.id) throw new TranscriptChanged();
    const { headThroughId, keepIds } = plan.boundaries;
    const compressionId = await insertCompression(tx, job.sessionId, {
      summary: summary.text,
      headThroughId,
      throughId: piece.throughId,
      messages: piece.rows.length,
      tokensBefore: now.tokens,
      tokensAfter,
      cause: job.cause,
      how: summary.how,
      model: summary.model,
    });
    const archived = await archiveMessages(tx, job.sessionId, { afterId: headThroughId, throughId: piece.throughId, keepIds, compressionId });
    if (archived !== piece.rows.length) throw new TranscriptChanged();
    await expectPrompt(tx, job.sessionId, { tokens: job.room.fixedTokens + tokensAfter, throughId: plan.lastId });
    if (summary.how === 'model') await forgetCompressionFailures(tx, job.sessionId);
  });
};

/** Has a piece summarised and puts the summary in its place. `nothing` when the summary would be no shorter. */
export const replacePiece = async (work: Work, plan: Plan, piece: Piece): Promise<'smaller' | PassEnd> => {
  const { parts, job } = work;
  const pieceTokens = sizeTokens({ messages: piece.rows.length, sizeBytes: piece.rows.reduce((sum, row) => sum + row.sizeBytes, 0) }, job.scale);
  const previous = plan.compression?.summary;
  const summary = await summaryFor(work, { rows: piece.rows, previous, focus: job.focus, tokens: summaryTokens(work.now.tokens, job.room.windowTokens) });
  if (typeof summary === 'string') return summary;
  addToUsage(work, summary.usage);
  if (work.signal.aborted) return 'aborted';
  const tokensAfter = work.now.tokens - pieceTokens - (previous === undefined ? 0 : summarySizeTokens(previous, job.scale)) + summarySizeTokens(summary.text, job.scale);
  if (tokensAfter >= work.now.tokens) return 'nothing';
  try {
    await commitPiece(work, plan, { piece, summary, tokensAfter });
  } catch (error) {
    if (!(error instanceof TranscriptChanged)) throw error;
    parts.log.warn({ session: job.sessionId }, 'compression.overtaken');
    return 'nothing';
  }
  work.now = { messages: work.now.messages - piece.rows.length, tokens: tokensAfter };
  return 'gained';
};
