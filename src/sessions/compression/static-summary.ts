import type { TranscriptMessage } from '../../core/transcript.ts';

const mostListed = 4_000;
const mostLine = 240;

const line = (text: string): string => {
  const one = text.replaceAll(/\s+/g, ' ').trim();
  return (one.length > mostLine ? `${one.slice(0, mostLine - 1)}…` : one).toWellFormed();
};

/** The newest lines that fit; what is older is counted. */
const newestThatFit = (lines: readonly string[], mostChars: number): string => {
  const kept: string[] = [];
  let length = 0;
  for (const each of lines.toReversed()) {
    if (length + each.length + 1 > mostChars) break;
    kept.unshift(each);
    length += each.length + 1;
  }
  const left = lines.length - kept.length;
  return [...(left > 0 ? [`(${left} earlier ones are not listed.)`] : []), ...kept].join('\n');
};

const section = (heading: string, lines: readonly string[], mostChars: number): string => (lines.length === 0 ? '' : `## ${heading}\n${newestThatFit(lines, mostChars)}`);

/** What can be said about a part of a conversation when no model can be asked: the summary before it, what people wrote, what was answered, which tools were used. */
export const staticSummary = (rows: readonly TranscriptMessage[], previous: string | undefined, mostChars: number): string => {
  const listed = Math.min(mostListed, Math.floor(mostChars / 2));
  const said = rows.filter((row) => row.role === 'user' && row.content.trim() !== '').map((row) => `- ${line(row.content)}`);
  const answered = rows.filter((row) => row.role === 'assistant' && row.content.trim() !== '').map((row) => `- ${line(row.content)}`);
  const used = rows.flatMap((row) => (row.toolCalls ?? []).map((call) => `- ${call.name} ${line(call.arguments)}`));
  const list = [
    'No model could be asked for a summary of what followed, so this is only a list. The conversation itself is kept and can be searched.',
    section('What people wrote', said, listed * 0.4),
    section('What was answered', answered, listed * 0.3),
    section('Tools that were used', used, listed * 0.2),
  ].filter((part) => part !== '');
  const text = list.join('\n\n').slice(0, listed);
  return [...(previous === undefined ? [] : [previous.slice(0, mostChars - listed)]), text].join('\n\n').toWellFormed();
};
