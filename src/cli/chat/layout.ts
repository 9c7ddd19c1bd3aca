import { printable } from '../../lib/printable.ts';
import { cutToWidth, textWidth } from '../../lib/text-width.ts';
import type { LiveItem } from './conversation.ts';
import { markdownTail } from './markdown-lines.ts';
import type { Look } from './markdown-lines.ts';
import { liveToolLine } from './printed-lines.ts';
import type { Prompt } from './prompt.ts';
import { promptRows, visibleRows } from './prompt-rows.ts';
import { statusLine } from './status-line.ts';
import type { StatusFacts } from './status-line.ts';
import { line, span } from './style.ts';
import type { Line, Style } from './style.ts';

/** Everything that the bottom of the screen shows of the present. */
export interface View {
  readonly live: readonly LiveItem[];
  readonly prompt: Prompt;
  readonly status: StatusFacts;
  readonly hint: string | undefined;
  readonly nowMs: number;
}

/** The part of the screen that is drawn anew each time. */
export interface Area {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
}

const faint: Style = { dim: true };
const mostPromptRows = 10;
const mostMenuRows = 5;
/** Longer lines are hard to read. */
export const widestText = 100;

const sign = '› ';

/** What goes to the shell looks different before it is sent there. */
const signStyle = (text: string): Style => ({ bold: true, color: text.startsWith('!') ? 'yellow' : 'cyan' });

const promptArea = (prompt: Prompt, columns: number, rows: number): Area => {
  const { text, cursor } = prompt.editor;
  const shown = visibleRows(promptRows(text, cursor, Math.max(4, columns - 3)), Math.max(1, Math.min(mostPromptRows, Math.floor(rows / 2))));
  const marks = (i: number): string => (i === 0 && shown.above > 0 ? '↑ ' : i === shown.rows.length - 1 && shown.below > 0 ? '↓ ' : i === 0 ? sign : '  ');
  const lines = shown.rows.map((row, i): Line => [span(marks(i), marks(i) === sign ? signStyle(text) : faint), span(row)]);
  return { lines, cursor: { row: shown.cursor.row, column: shown.cursor.column + 2 } };
};

/** Candidates side by side, as many as there is room for. */
const menuLines = (menu: readonly string[], columns: number): readonly Line[] => {
  const lines: string[] = [];
  for (const [i, candidate] of menu.entries()) {
    const text = cutToWidth(printable(candidate), Math.max(4, columns - 2));
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + textWidth(text) + 2 < columns) lines[lines.length - 1] = `${last}  ${text}`;
    else if (lines.length === mostMenuRows) return [...lines, `  … and ${menu.length - i} more`].map((each) => line(each, faint));
    else lines.push(`  ${text}`);
  }
  return lines.map((each) => line(each, faint));
};

const belowPrompt = ({ prompt, hint }: View, columns: number): readonly Line[] => {
  if (prompt.search !== undefined) {
    const found = prompt.search.query === '' || prompt.search.at !== undefined ? '' : ' (nothing found)';
    return [line(cutToWidth(`  history: ${prompt.search.query}▏${found}  Ctrl-R older · Enter take · Esc back`, columns - 1), faint)];
  }
  return [...menuLines(prompt.menu, columns), ...(hint === undefined ? [] : [line(cutToWidth(`  ${hint}`, columns - 1), faint)])];
};

const liveLines = (view: View, look: Look, rows: number): readonly Line[] => {
  if (rows <= 0) return [];
  const lines = view.live.flatMap((item, i) => [...(i > 0 ? [[]] : []), ...(item.type === 'growing' ? markdownTail(item.text, look, rows) : [liveToolLine(item, look, view.nowMs)])]);
  return lines.slice(-rows);
};

/** Live text, status, input line and what belongs to it: never higher than the screen, the input line always in sight. */
export const layOut = (view: View, size: { readonly columns: number; readonly rows: number }, colored: boolean): Area => {
  const { columns } = size;
  const room = Math.max(3, size.rows - 1);
  const prompt = promptArea(view.prompt, columns, room);
  const below = belowPrompt(view, columns).slice(0, Math.max(0, room - prompt.lines.length - 1));
  const fixed = prompt.lines.length + below.length + 1;
  const live = liveLines(view, { columns: Math.min(columns, widestText), colored }, room - fixed - 2);
  const above = live.length > 0 ? [[], ...live, []] : room > fixed ? [[]] : [];
  const lines = [...above, statusLine(view.status, columns), ...prompt.lines, ...below];
  return { lines, cursor: { row: above.length + 1 + prompt.cursor.row, column: prompt.cursor.column } };
};
