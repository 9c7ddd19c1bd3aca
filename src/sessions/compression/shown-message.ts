import { boundResult } from '../../agent/tools/bound-result.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';

/** Stands where an old result of a tool stood. It must not say anything that differs from result to result: its size is known before the result is. */
export const clearedResult = '[This old result was removed to save room. Run the tool again if it is needed.]';

/** A message as the model sees it once its result has been cut down to so many characters; as it is when it has not. */
export const shownMessage = (message: TranscriptMessage, shownChars: number | null): TranscriptMessage => {
  if (shownChars === null || message.role !== 'tool') return message;
  return { ...message, content: shownChars === 0 ? clearedResult : boundResult(message.content, shownChars) };
};
