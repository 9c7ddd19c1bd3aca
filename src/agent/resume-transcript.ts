import type { TranscriptMessage } from '../core/transcript.ts';
import { toolResult } from './alternation.ts';

const interrupted =
  'Interrupted by a restart of the gateway. This call may have taken effect; it is not run again by itself. Check before repeating it.';

/**
 * What to append to a transcript whose turn was broken off: one result for every tool call of the last assistant message that has
 * none and does not only wait for a person (`unanswered`). Nothing is run again. Empty when the transcript is complete.
 */
export const resumeTranscript = (transcript: readonly TranscriptMessage[], unanswered: ReadonlySet<string> = new Set()): readonly TranscriptMessage[] => {
  const index = transcript.findLastIndex((row) => row.role === 'assistant');
  const calls = transcript[index]?.toolCalls ?? [];
  const answered = new Set(transcript.slice(index + 1).map((row) => row.toolCallId));
  return calls.filter((call) => !answered.has(call.id) && !unanswered.has(call.id)).map((call) => toolResult(call, interrupted));
};
