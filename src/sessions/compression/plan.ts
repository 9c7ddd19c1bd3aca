import { estimateTokens, rowTokens } from '../../agent/context.ts';
import { messageSizeBytes } from '../../core/transcript.ts';
import type { Stretch } from '../../store/sessions/archive.ts';
import { currentCompression } from '../../store/sessions/compressions.ts';
import type { Compression } from '../../store/sessions/compressions.ts';
import { contextByRole, stretchSize } from '../../store/sessions/context-size.ts';
import type { ContextSize } from '../../store/sessions/context-size.ts';
import { lastUserMessage, newestResultOf, newestSketches, oldestSketches } from '../../store/sessions/transcripts.ts';
import type { MessageSketch } from '../../store/sessions/transcripts.ts';
import type { Reading } from '../../store/store.ts';
import { mostMessages } from '../load-context.ts';
import { drawBoundaries, headThrough } from './boundaries.ts';
import type { Boundaries, BoundaryRow } from './boundaries.ts';
import { summaryMessage } from './summary-message.ts';

/** How much a conversation is, as its model will count it, prompt and tools left out. */
export interface Measure {
  readonly messages: number;
  readonly tokens: number;
}

/** Real tokens per estimated one. */
type Scale = number;

const envelopeTokens = rowTokens(0);
/** More than any beginning may have. */
const mostHeadRows = 32;

export const sizeTokens = (size: ContextSize, scale: Scale): number => Math.round((estimateTokens(size.sizeBytes) + size.messages * envelopeTokens) * scale);

export const summarySizeTokens = (summary: string, scale: Scale): number => Math.round(rowTokens(messageSizeBytes(summaryMessage(summary))) * scale);

export const measureConversation = async (db: Reading, sessionId: string, scale: Scale): Promise<Measure> => {
  const { user, assistant, tool } = await contextByRole(db, sessionId);
  const compression = await currentCompression(db, sessionId);
  const all = { messages: user.messages + assistant.messages + tool.messages, sizeBytes: user.sizeBytes + assistant.sizeBytes + tool.sizeBytes };
  return { messages: all.messages, tokens: sizeTokens(all, scale) + (compression === undefined ? 0 : summarySizeTokens(compression.summary, scale)) };
};

/** What one pass would do to a conversation. */
export interface Plan {
  readonly compression: Compression | undefined;
  readonly boundaries: Boundaries;
  /** What a summary would take the place of. */
  readonly middle: Stretch;
  readonly middleSize: Measure;
  /** The newest message there is. */
  readonly lastId: number;
}

export interface PlanInput {
  readonly sessionId: string;
  readonly scale: Scale;
  readonly protectFirst: number;
  readonly headTokens: number;
  /** Tools whose newest result stays, because their state is read from it. */
  readonly keepResultsOf: readonly string[];
  /** Chooses where the newest part begins. */
  tailStart(rows: readonly BoundaryRow[]): number;
}

/** The call and the results that a result belongs to. */
const pieceAround = (rows: readonly BoundaryRow[], id: number): readonly BoundaryRow[] => {
  const at = rows.findIndex((row) => row.id === id);
  if (at === -1) return [];
  let from = at;
  while (from > 0 && rows[from]?.role === 'tool') from -= 1;
  let to = at + 1;
  while (rows[to]?.role === 'tool') to += 1;
  return rows.slice(from, to);
};

const keptResults = async (db: Reading, input: PlanInput, rows: readonly BoundaryRow[]): Promise<readonly number[]> => {
  const ids: number[] = [];
  for (const toolName of input.keepResultsOf) {
    const result = await newestResultOf(db, input.sessionId, toolName);
    const piece = result === undefined ? [] : pieceAround(rows, result.id);
    if (piece.reduce((sum, row) => sum + row.tokens, 0) <= input.headTokens) ids.push(...piece.map((row) => row.id));
  }
  return ids;
};

/** Reads no more than sizes, and of those only the two ends of the conversation. */
export const planPass = async (db: Reading, input: PlanInput): Promise<Plan> => {
  const { sessionId, scale } = input;
  const toRow = ({ id, role, sizeBytes }: MessageSketch): BoundaryRow => ({ id, role, tokens: Math.round(rowTokens(sizeBytes) * scale) });
  const compression = await currentCompression(db, sessionId);
  const first = (await oldestSketches(db, sessionId, mostHeadRows)).map(toRow);
  const headThroughId = headThrough(first, { protectFirst: input.protectFirst, tokens: input.headTokens, keptThroughId: compression?.headThroughId });
  const newest = (await newestSketches(db, sessionId, { limit: mostMessages })).map(toRow).filter((row) => row.id > headThroughId).toReversed();
  const asked = await lastUserMessage(db, sessionId);
  const boundaries = drawBoundaries({
    headThroughId,
    newest,
    tailStart: input.tailStart(newest),
    keepIds: [...(asked === undefined ? [] : [asked.id]), ...(await keptResults(db, input, newest))],
  });
  const middle = { afterId: headThroughId, throughId: boundaries.tailFromId - 1, keepIds: boundaries.keepIds };
  const size = await stretchSize(db, sessionId, middle);
  return { compression, boundaries, middle, middleSize: { messages: size.messages, tokens: sizeTokens(size, scale) }, lastId: newest.at(-1)?.id ?? 0 };
};
