import { markdownWords } from '../../lib/markdown/words.ts';
import { printable } from '../../lib/printable.ts';
import { cutToWidth } from '../../lib/text-width.ts';
import { span as timeSpan } from '../environment.ts';
import type { LiveItem, Printed } from './conversation.ts';
import { markdownLines } from './markdown-lines.ts';
import type { Look } from './markdown-lines.ts';
import { line, span } from './style.ts';
import type { Line, Span, Style } from './style.ts';
import { wrapSpans } from './wrap.ts';

const faint: Style = { dim: true };
const own: Style = { bold: true };

const oneLine = (text: string): string => printable(text).replaceAll(/\s+/g, ' ').trim();

/** `3 ms`, `1.2 s`, `2 min`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
};

const typedLines = (text: string, sign: Span, { columns }: Look): readonly Line[] =>
  wrapSpans([span(printable(text).replaceAll('\t', '    '), own)], columns - 2).map((each, i) => [i === 0 ? sign : span('  '), ...each]);

const answerLines = (item: Extract<Printed, { type: 'answer' }>, look: Look): readonly Line[] => [
  ...(item.changed ? [line('(changed)', faint)] : []),
  ...(item.plain ? wrapSpans([span(printable(item.text).replaceAll('\t', '    '))], look.columns) : markdownLines(item.text, look)),
  ...item.files.flatMap((file) => wrapSpans([span(`📎 ${oneLine(file.name)} `), span(oneLine(file.path), faint)], look.columns)),
  ...item.choices.map((choice, i): Line => [span(`  ${i + 1}  `, { color: 'cyan', bold: true }), span(oneLine(choice.label))]),
  ...(item.choices.length > 0 ? [line('Type the number to choose.', faint)] : []),
];

const toolText = (name: string, preview: string): string => `⚙ ${oneLine(name)}${preview === '' ? '' : ` ${oneLine(preview)}`}`;

/** One line: what it does, cut where it must be, and how it ended. */
const toolLine = (what: string, end: { readonly text: string; readonly style: Style }, { columns }: Look): Line => [span(cutToWidth(what, columns - end.text.length - 1), faint), span(` ${end.text}`, end.style)];

/** The beginning of a long text, as faint as everything that is not new. */
const excerpt = (text: string, columns: number, most: number): readonly Line[] => {
  const lines = wrapSpans([span(printable(markdownWords(text)).replaceAll('\t', '    '), faint)], columns);
  return lines.length <= most ? lines : [...lines.slice(0, most), line('…', faint)];
};

const recapLines = (item: Extract<Printed, { type: 'recap' }>, { columns }: Look): readonly Line[] => [
  [span('↩ ', { color: 'cyan' }), span(cutToWidth(oneLine(item.title), columns - 30), { bold: true }), span(` · ${item.messages} messages · ${timeSpan(item.agoMs)} ago`, faint)],
  ...(item.said === '' ? [] : excerpt(item.said, columns - 2, 2).map((each, i): Line => [span(i === 0 ? '› ' : '  ', faint), ...each])),
  ...(item.answer === '' ? [] : excerpt(item.answer, columns - 2, 4).map((each): Line => [span('  '), ...each])),
];

/** The lines of something that is printed for good. */
export const printedLines = (item: Printed, look: Look): readonly Line[] => {
  switch (item.type) {
    case 'said':
      return typedLines(item.text, span('› ', { color: 'cyan', bold: true }), look);
    case 'shell':
      return typedLines(item.command, span('! ', { color: 'yellow', bold: true }), look);
    case 'answer':
      return answerLines(item, look);
    case 'tool':
      return [toolLine(toolText(item.name, item.preview), { text: `${item.ok ? '✓' : '✗'} ${duration(item.durationMs)}`, style: item.ok ? { color: 'green' } : { color: 'red' } }, look)];
    case 'recap':
      return recapLines(item, look);
    case 'notice':
      return wrapSpans([span(printable(item.text), faint)], look.columns);
    default:
      return item satisfies never;
  }
};

export const liveToolLine = (item: Extract<LiveItem, { type: 'tool' }>, look: Look, nowMs: number): Line =>
  toolLine(toolText(item.name, item.preview), { text: item.done === undefined ? `… ${duration(Math.max(0, nowMs - item.startedMs))}` : `✓ ${duration(item.done.durationMs)}`, style: faint }, look);

/** Things of one kind that belong together stand together; everything else has a blank line before it. */
export const standsTogether = (before: Printed | undefined, item: Printed): boolean => before === undefined || (before.type === item.type && (item.type === 'tool' || item.type === 'notice'));
