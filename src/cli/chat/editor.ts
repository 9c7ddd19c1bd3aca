import type { KeyName } from './keys.ts';

/** A text under the cursor. `cursor` is an offset that never lies inside a character as people see it. */
export interface Editor {
  readonly text: string;
  readonly cursor: number;
  /** What was cut last. */
  readonly killed: string;
}

export const emptyEditor: Editor = { text: '', cursor: 0, killed: '' };

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

const before = (text: string, at: number): number => (at === 0 ? 0 : (segmenter.segment(text).containing(at - 1)?.index ?? at - 1));

const after = (text: string, at: number): number => {
  const here = at < text.length ? segmenter.segment(text).containing(at) : undefined;
  return here === undefined ? text.length : here.index + here.segment.length;
};

const lineStart = (text: string, at: number): number => (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1);

const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
};

const wordLeft = (text: string, at: number): number => at - (/[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(text.slice(0, at))?.[0].length ?? 0);

const wordRight = (text: string, at: number): number => at + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(at))?.[0].length ?? 0);

/** As Control-W sees it: up to white space. */
const blankLeft = (text: string, at: number): number => at - (/\S*\s*$/.exec(text.slice(0, at))?.[0].length ?? 0);

const moveTo = (editor: Editor, cursor: number): Editor => ({ ...editor, cursor });

const cut = (editor: Editor, from: number, to: number): Editor => ({ ...editor, text: editor.text.slice(0, from) + editor.text.slice(to), cursor: from });

const kill = (editor: Editor, from: number, to: number): Editor => (from === to ? editor : { ...cut(editor, from, to), killed: editor.text.slice(from, to) });

export const insertText = (editor: Editor, text: string): Editor => ({
  ...editor,
  text: editor.text.slice(0, editor.cursor) + text + editor.text.slice(editor.cursor),
  cursor: editor.cursor + text.length,
});

/** Replaces the whole text; the cursor stands behind it. */
export const withText = (editor: Editor, text: string): Editor => ({ ...editor, text, cursor: text.length });

/** To the same column of the line above or below; undefined when there is none. */
const moveLine = (editor: Editor, step: -1 | 1): Editor | undefined => {
  const { text, cursor } = editor;
  const start = lineStart(text, cursor);
  const end = lineEnd(text, cursor);
  if (step === -1 ? start === 0 : end === text.length) return undefined;
  const target = step === -1 ? lineStart(text, start - 1) : end + 1;
  const last = lineEnd(text, target);
  let at = target;
  for (let here = start; here < cursor && at < last; here = after(text, here)) at = after(text, at);
  return moveTo(editor, at);
};

/** What an editing key does; undefined for keys that do not edit or have nothing to do. */
export const applyKey = (editor: Editor, name: KeyName): Editor | undefined => {
  const { text, cursor } = editor;
  switch (name) {
    case 'left':
    case 'ctrl-b':
      return moveTo(editor, before(text, cursor));
    case 'right':
    case 'ctrl-f':
      return moveTo(editor, after(text, cursor));
    case 'up':
    case 'ctrl-p':
      return moveLine(editor, -1);
    case 'down':
    case 'ctrl-n':
      return moveLine(editor, 1);
    case 'home':
    case 'ctrl-a':
      return moveTo(editor, lineStart(text, cursor));
    case 'end':
    case 'ctrl-e':
      return moveTo(editor, lineEnd(text, cursor));
    case 'word-left':
    case 'alt-b':
      return moveTo(editor, wordLeft(text, cursor));
    case 'word-right':
    case 'alt-f':
      return moveTo(editor, wordRight(text, cursor));
    case 'backspace':
      return cut(editor, before(text, cursor), cursor);
    case 'delete':
    case 'ctrl-d':
      return cut(editor, cursor, after(text, cursor));
    case 'ctrl-k':
      return kill(editor, cursor, lineEnd(text, cursor) === cursor ? after(text, cursor) : lineEnd(text, cursor));
    case 'ctrl-u':
      return kill(editor, lineStart(text, cursor), cursor);
    case 'ctrl-w':
      return kill(editor, blankLeft(text, cursor), cursor);
    case 'alt-backspace':
      return kill(editor, wordLeft(text, cursor), cursor);
    case 'alt-d':
      return kill(editor, cursor, wordRight(text, cursor));
    case 'ctrl-y':
      return insertText(editor, editor.killed);
    case 'newline':
      return insertText(editor, '\n');
    default:
      return undefined;
  }
};
