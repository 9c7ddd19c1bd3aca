import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Editor } from './editor.ts';

export interface CompletionSources {
  /** Without the slash. */
  readonly commands: readonly string[];
  /** Titles and ids. */
  sessions(): Promise<readonly string[]>;
  readonly folder: string;
  readonly userFolder: string;
}

/** What could stand from `start` to the cursor. */
export interface Completion {
  readonly start: number;
  readonly candidates: readonly string[];
}

const mostCandidates = 200;

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Names in the folder that the word points into, as the word would be written with them; folders end in a slash. */
const paths = async (word: string, sources: CompletionSources): Promise<readonly string[]> => {
  const slash = word.lastIndexOf('/') + 1;
  const written = word.slice(0, slash);
  const folder = written.startsWith('~/') ? join(sources.userFolder, written.slice(2)) : written.startsWith('/') ? written : join(sources.folder, written);
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const start = word.slice(slash);
    return entries
      .filter(({ name }) => name.startsWith(start) && (start.startsWith('.') || !name.startsWith('.')))
      .map((entry) => `${written}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .toSorted()
      .slice(0, mostCandidates);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** Commands at the beginning, conversations behind /resume, and files anywhere else. */
export const completionsOf = async ({ text, cursor }: Editor, sources: CompletionSources): Promise<Completion> => {
  const before = text.slice(0, cursor);
  const command = /^\/([^\s/]*)$/.exec(before);
  if (command !== null) {
    const start = command[1]?.toLowerCase() ?? '';
    const candidates = sources.commands.filter((name) => name.startsWith(start)).map((name) => `/${name}`);
    return { start: 0, candidates: candidates.toSorted() };
  }
  const resume = /^\/(?:resume|sessions)\s+(.*)$/s.exec(before);
  if (resume !== null) {
    const start = resume[1]?.toLowerCase() ?? '';
    return { start: cursor - start.length, candidates: (await sources.sessions()).filter((name) => name.toLowerCase().startsWith(start)) };
  }
  const word = /\S*$/.exec(before)?.[0] ?? '';
  const shell = word.startsWith('!') && word.length === before.length ? word.slice(1) : word;
  return { start: cursor - shell.length, candidates: shell === '' ? [] : await paths(shell, sources) };
};

const commonStart = (words: readonly string[]): string => {
  const [first = '', ...others] = words;
  let length = first.length;
  for (const other of others) while (!other.toLowerCase().startsWith(first.slice(0, length).toLowerCase())) length -= 1;
  return first.slice(0, length).toWellFormed();
};

/** Puts in what all candidates have in common; the only one is finished with a space. `menu` is what is left to choose from. */
export const applyCompletion = (editor: Editor, { start, candidates }: Completion): { readonly editor: Editor; readonly menu: readonly string[] } => {
  const [only, ...others] = candidates;
  if (only === undefined) return { editor, menu: [] };
  const whole = others.length === 0 ? `${only}${only.endsWith('/') ? '' : ' '}` : commonStart(candidates);
  const typed = editor.text.slice(start, editor.cursor);
  if (whole.length <= typed.length && others.length > 0) return { editor, menu: candidates };
  return { editor: { ...editor, text: editor.text.slice(0, start) + whole + editor.text.slice(editor.cursor), cursor: start + whole.length }, menu: [] };
};
