import { createHash } from 'node:crypto';
import type { TranscriptMessage } from '../../core/transcript.ts';

/** What is added to a message for one turn only, such as memories, stands behind its first paragraph. */
const headOf = (content: string): string => (content.split('\n\n', 1)[0] ?? '').trim().slice(0, 2_000);

/** Names a place in a conversation by what was said there and just before. */
export const markAt = (rows: readonly TranscriptMessage[], index: number): string => {
  const hash = createHash('sha256');
  for (const row of rows.slice(Math.max(0, index - 1), index + 1)) hash.update(JSON.stringify([row.role, headOf(row.content)]));
  return hash.digest('hex').slice(0, 32);
};

/**
 * What people have said since the marked place. Undefined when the conversation has been changed there (by /undo, say): whoever has heard the old one
 * must be told the new one from the start. The last row is what is to be answered now, and so never the marked one.
 */
export const saidSince = (rows: readonly TranscriptMessage[], mark: string): readonly TranscriptMessage[] | undefined => {
  for (let index = rows.length - 2; index >= 0; index -= 1) {
    if (markAt(rows, index) === mark) return rows.slice(index + 1).filter((row) => row.role === 'user');
  }
  return undefined;
};

/** What is to be answered, and what was said before it. */
export const splitTranscript = (rows: readonly TranscriptMessage[]): { readonly before: readonly TranscriptMessage[]; readonly asked: readonly TranscriptMessage[] } => {
  const start = rows.findLastIndex((row) => row.role !== 'user') + 1;
  return { before: rows.slice(0, start), asked: rows.slice(start) };
};

/** Of the last thing that a person said. */
export const markOf = (rows: readonly TranscriptMessage[]): string => markAt(rows, rows.findLastIndex((row) => row.role === 'user'));
