import { readdir, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { changeEntries, parseEntries } from '../agent/memory/entries.ts';
import { changeMemoryFile, readMemoryFile } from '../agent/memory/memory-file.ts';
import type { MemoryFile } from '../agent/memory/memory-file.ts';
import type { Clock } from '../lib/clock.ts';
import { copyWhole, isSame, isThere } from './copy-folder.ts';
import type { ImportReport } from './import-report.ts';

export interface FilesOptions {
  /** Of the agent that gets them. */
  readonly home: string;
  readonly report: ImportReport;
  readonly dryRun: boolean;
  readonly memoryChars: number;
  readonly userChars: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const maxMemoryBytes = 1024 * 1024;

/** What lies in a folder, without links and hidden names. */
export const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return (await readdir(folder, { withFileTypes: true })).filter((entry) => !entry.name.startsWith('.') && !entry.isSymbolicLink()).map(({ name }) => name).toSorted();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
};

const mostNamed = 10;

/** Names the links below a folder: nothing is copied through them, since they may lead anywhere. */
export const reportLinks = async (folder: string, area: string, report: ImportReport): Promise<void> => {
  if (!existsSync(folder)) return;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const links = entries.filter((entry) => entry.isSymbolicLink()).map((entry) => relative(folder, join(entry.parentPath, entry.name))).toSorted();
  const more = links.length > mostNamed ? `, and ${links.length - mostNamed} more` : '';
  if (links.length > 0) report.add({ area, fate: 'left', what: `${links.slice(0, mostNamed).join(', ')}${more}`, why: 'links are not followed; copy what they lead to' });
};

const nowhere = 'it is a link to nowhere';

/** Copies what is not there. What is there is never replaced. */
export const importOne = async (from: string, to: string, line: { readonly area: string; readonly what: string }, options: FilesOptions): Promise<void> => {
  if (!existsSync(from)) return options.report.add({ ...line, fate: 'left', why: nowhere });
  if (await isThere(to)) {
    const same = await isSame(from, to);
    options.report.add({ ...line, fate: same ? 'known' : 'left', ...(!same && { why: 'one of that name is here and differs' }) });
    return;
  }
  if (!options.dryRun) await copyWhole(from, to);
  options.report.add({ ...line, fate: 'taken' });
};

/** Folders with a SKILL.md, in themselves or in a category. */
export const skillFolders = async (folder: string, depth = 0): Promise<readonly string[]> => {
  if (await isThere(join(folder, 'SKILL.md'))) return [''];
  if (depth === 3) return [];
  const found: string[] = [];
  for (const name of await namesIn(folder)) for (const inner of await skillFolders(join(folder, name), depth + 1)) found.push(inner === '' ? name : `${name}/${inner}`);
  return found;
};

const addEntry = async (file: MemoryFile, content: string, options: FilesOptions) => {
  if (!options.dryRun) return changeMemoryFile(file, { action: 'add', content }, options);
  const { entries } = await readMemoryFile(file);
  return changeEntries(entries, { action: 'add', content }, file.limitChars);
};

/** Entry by entry, as if the agent had noted them. */
export const importMemories = async (from: string, file: MemoryFile, options: FilesOptions & { readonly entriesOf?: (text: string) => readonly string[] }): Promise<void> => {
  const { report, entriesOf = parseEntries } = options;
  if (!(await isThere(from))) return;
  const name = file.path.slice(options.home.length + 1);
  if (!existsSync(from)) return report.add({ area: 'memories', fate: 'left', what: name, why: nowhere });
  const text = await readFile(from, 'utf8');
  if (text.length > maxMemoryBytes) return report.add({ area: 'memories', fate: 'left', what: name, why: 'it is far too large for a memory' });
  let taken = 0;
  for (const entry of entriesOf(text)) {
    const outcome = await addEntry(file, entry, options);
    const what = `${name}: ${JSON.stringify(entry.slice(0, 60))}`;
    if (outcome.type === 'changed') taken += 1;
    else if (outcome.type === 'too_long') report.add({ area: 'memories', fate: 'left', what, why: `there is no room left in it (${file.limitChars} characters)` });
    else if (outcome.type === 'drifted') return report.add({ area: 'memories', fate: 'left', what: name, why: outcome.reason });
    else if (outcome.type !== 'duplicate') report.add({ area: 'memories', fate: 'left', what, why: 'it is no entry of its own' });
  }
  if (taken > 0) report.add({ area: 'memories', fate: 'taken', what: `entries of ${name}: ${taken}` });
};
