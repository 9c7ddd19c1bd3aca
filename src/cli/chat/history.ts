import { appendFile, readFile } from 'node:fs/promises';
import { writeAtomically } from '../../lib/write-atomically.ts';

const mostEntries = 1000;
const longestEntry = 10_000;

const parse = (line: string): readonly string[] => {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
};

/** What was typed at the terminals of a home, oldest first: one JSON string per line, so that several lines stay one entry. */
export const loadHistory = async (path: string): Promise<readonly string[]> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const lines = text.split('\n').filter((line) => line !== '');
  const entries = lines.flatMap(parse).slice(-mostEntries);
  if (lines.length > 2 * mostEntries) await writeAtomically(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  return entries;
};

/** Several terminals may do so at the same time. What begins with a space is nobody's business. */
export const addToHistory = async (path: string, entry: string): Promise<void> => {
  if (entry.startsWith(' ') || entry.length > longestEntry) return;
  await appendFile(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
};
