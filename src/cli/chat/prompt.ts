import { printable } from '../../lib/printable.ts';
import { applyKey, emptyEditor, insertText, withText } from './editor.ts';
import type { Editor } from './editor.ts';
import type { Key, KeyName } from './keys.ts';

interface Search {
  readonly query: string;
  /** Index of the entry that is shown. */
  readonly at: number | undefined;
  readonly before: Editor;
}

/** The input line: what is being written, and where in the history one is looking. */
export interface Prompt {
  readonly editor: Editor;
  /** Oldest first. */
  readonly history: readonly string[];
  /** Index of the entry that is shown; the number of entries while something new is written. */
  readonly at: number;
  /** What was being written before the history was opened. */
  readonly draft: string;
  readonly search?: Search;
  /** Candidates of the last completion, until the next key. */
  readonly menu: readonly string[];
}

/** What a key asks for beyond editing. */
export type Action = { readonly type: 'submit'; readonly text: string } | { readonly type: 'complete' | 'interrupt' | 'leave' | 'stop' | 'clear' | 'suspend' };

export interface Pressed {
  readonly prompt: Prompt;
  readonly action?: Action;
}

export const newPrompt = (history: readonly string[]): Prompt => ({ editor: emptyEditor, history, at: history.length, draft: '', menu: [] });

/** Begins anew, with the text at the end of the history unless it stands there already or starts with a space. */
export const remember = (prompt: Prompt, text: string): Prompt => {
  const history = text.startsWith(' ') || prompt.history.at(-1) === text ? prompt.history : [...prompt.history, text];
  return { ...newPrompt(history), editor: { ...emptyEditor, killed: prompt.editor.killed } };
};

const edited = (prompt: Prompt, editor: Editor): Pressed => ({ prompt: { ...prompt, editor } });

const recall = (prompt: Prompt, step: -1 | 1): Prompt => {
  const at = prompt.at + step;
  if (at < 0 || at > prompt.history.length) return prompt;
  const draft = prompt.at === prompt.history.length ? prompt.editor.text : prompt.draft;
  return { ...prompt, at, draft, editor: withText(prompt.editor, prompt.history[at] ?? draft) };
};

const find = (history: readonly string[], query: string, from: number): number | undefined => {
  const at = query === '' ? -1 : history.findLastIndex((entry, i) => i <= from && entry.toLowerCase().includes(query.toLowerCase()));
  return at === -1 ? undefined : at;
};

const searching = (prompt: Prompt, search: Search): Prompt => ({ ...prompt, search, editor: search.at === undefined ? search.before : withText(prompt.editor, prompt.history[search.at] ?? '') });

const closeSearch = ({ search: _search, ...prompt }: Prompt): Prompt => prompt;

/** While searching, text narrows, Control-R goes further back, Escape gives up, and any other key takes what is shown. */
const pressInSearch = (prompt: Prompt, search: Search, key: Key): Pressed => {
  const last = prompt.history.length - 1;
  const narrow = (query: string): Pressed => ({ prompt: searching(prompt, { ...search, query, at: find(prompt.history, query, last) }) });
  if (key.type === 'text') return narrow(search.query + key.text);
  if (key.type === 'key') {
    switch (key.name) {
      case 'backspace':
        return narrow(search.query.slice(0, -1));
      case 'ctrl-r':
        return { prompt: searching(prompt, { ...search, at: find(prompt.history, search.query, (search.at ?? prompt.history.length) - 1) ?? search.at }) };
      case 'escape':
      case 'ctrl-g':
      case 'ctrl-c':
        return { prompt: { ...closeSearch(prompt), editor: search.before } };
      default:
    }
  }
  const taken = { ...closeSearch(prompt), at: search.at ?? prompt.at };
  return key.type === 'key' && (key.name === 'tab' || key.name === 'enter') ? { prompt: taken } : press(taken, key);
};

const isContinued = (text: string): boolean => /(?<!\\)(?:\\\\)*\\$/.test(text);

const submit = (prompt: Prompt): Pressed => {
  const { text } = prompt.editor;
  if (isContinued(text)) return edited(prompt, withText(prompt.editor, `${text.slice(0, -1)}\n`));
  return text.trim() === '' ? { prompt } : { prompt, action: { type: 'submit', text: text.trimEnd() } };
};

const actionOf = (prompt: Prompt, name: KeyName): Action | undefined => {
  switch (name) {
    case 'tab':
      return { type: 'complete' };
    case 'ctrl-c':
      return { type: 'interrupt' };
    case 'ctrl-d':
      return prompt.editor.text === '' ? { type: 'leave' } : undefined;
    case 'escape':
      return { type: 'stop' };
    case 'ctrl-l':
      return { type: 'clear' };
    case 'ctrl-z':
      return { type: 'suspend' };
    default:
      return undefined;
  }
};

const pressName = (prompt: Prompt, name: KeyName): Pressed => {
  if (name === 'enter') return submit(prompt);
  if (name === 'ctrl-r') return { prompt: { ...prompt, search: { query: '', at: undefined, before: prompt.editor } } };
  const action = actionOf(prompt, name);
  if (action !== undefined) return { prompt, action };
  const editor = applyKey(prompt.editor, name);
  if (editor !== undefined) return edited(prompt, editor);
  if (name === 'up' || name === 'ctrl-p') return { prompt: recall(prompt, -1) };
  return name === 'down' || name === 'ctrl-n' ? { prompt: recall(prompt, 1) } : { prompt };
};

/** What becomes of the input line by one key. */
export const press = (prompt: Prompt, key: Key): Pressed => {
  const open = { ...prompt, menu: [] };
  if (prompt.search !== undefined) return pressInSearch(open, prompt.search, key);
  if (key.type === 'key') return pressName(open, key.name);
  return edited(open, insertText(open.editor, printable(key.text)));
};
