import { noUsage } from '../../core/transcript.ts';
import type { Usage } from '../../core/transcript.ts';
import type { TurnChore } from '../../store/sessions/turns.ts';
import { readContext } from '../load-context.ts';
import { compress, previewCompression } from './compress.ts';
import type { CompressionResult } from './compress.ts';
import type { CompressionParts } from './job.ts';
import { roomLimits } from './limits.ts';
import type { Measure } from './plan.ts';
import { scaleOf } from './turn-context.ts';
import type { HeldConversation } from './turn-context.ts';

const count = (tokens: number): string => (tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1000)}k`);

const figures = ({ messages, tokens }: Measure): string => `${messages} ${messages === 1 ? 'message' : 'messages'}, about ${count(tokens)} tokens`;

const nothingToGain = (before: Measure): string => `There is nothing to gain: this conversation has ${figures(before)}.`;

const answerTo = ({ end, before, after, error }: CompressionResult): string => {
  switch (end) {
    case 'compressed':
      return `🗜️ Summarised: from ${figures(before)} to ${figures(after)}. Everything that was said is still there and can be searched.`;
    case 'nothing':
      return nothingToGain(before);
    case 'failed':
    case 'resting':
      return `⚠️ There is no summary: ${error ?? 'the model could not be asked.'} The conversation is as it was.`;
    case 'aborted':
      return '';
    default:
      throw end satisfies never;
  }
};

const announced = ({ before, middle }: Awaited<ReturnType<typeof previewCompression>>): string =>
  middle === undefined ? nothingToGain(before) : `🔍 A summary would take the place of ${figures(middle)}, of ${figures(before)} in all. The rest would stay word for word. Nothing has been changed; /compress does it.`;

export interface RequestResult {
  /** What the chat is told; empty when it was aborted. */
  readonly text: string;
  readonly usage: Usage;
  readonly aborted: boolean;
}

/** Compresses a conversation because somebody asked. */
export const compressOnRequest = async (parts: CompressionParts, request: HeldConversation & { readonly chore: TurnChore }, signal: AbortSignal): Promise<RequestResult> => {
  const { session, claim, reader, chore } = request;
  const room = roomLimits(parts.options, reader);
  const loaded = await readContext(parts.store, session.id, { fixedTokens: room.fixedTokens, budgetTokens: room.budgetTokens, prompt: session.prompt });
  const scale = scaleOf(loaded.tokens, loaded.estimatedTokens);
  const job = { sessionId: session.id, claim, room, cause: 'request', goalTokens: room.thresholdTokens, level: 0, scale, focus: chore.focus, keepExchanges: chore.keepExchanges } as const;
  if (chore.preview === true) return { text: announced(await previewCompression(parts, job, signal)), usage: noUsage, aborted: false };
  const result = await compress(parts, job, signal);
  return { text: answerTo(result), usage: result.usage, aborted: result.end === 'aborted' };
};
