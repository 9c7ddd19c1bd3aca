import type { TranscriptMessage } from '../../core/transcript.ts';
import type { SubmittedCall } from '../../gateway/api/submit-call.ts';

/** What a call says now, apart from what was said before it. */
export const splitInput = (rows: readonly TranscriptMessage[]): Pick<SubmittedCall, 'history' | 'text' | 'files' | 'results'> => {
  const begin = rows.findLastIndex((row) => row.role === 'assistant') + 1;
  const now = rows.slice(begin);
  const said = now.filter((row) => row.role === 'user');
  return {
    history: rows.slice(0, begin),
    text: said.map((row) => row.content).filter((text) => text !== '').join('\n\n'),
    files: said.flatMap((row) => row.attachments ?? []),
    results: now.flatMap((row) => (row.role === 'tool' ? [{ callId: row.toolCallId ?? '', text: row.content }] : [])),
  };
};
