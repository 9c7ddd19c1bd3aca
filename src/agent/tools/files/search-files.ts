import { z } from 'zod';
import { runBoundedWorker } from '../../../lib/bounded-worker.ts';
import type { WorkerEnd } from '../../../lib/bounded-worker.ts';
import { ToolError } from '../contract.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { newFileAccess } from './file-access.ts';
import type { FileAccess, FileToolsDeps } from './file-access.ts';
import { readGlob } from './glob.ts';
import { defaultMaxChars } from './read-file.ts';
import type { SearchMessage, SearchRequest, SearchRow } from './search-request.ts';

const args = z.object({
  pattern: z.string().min(1).max(2000).describe('content: a regular expression (JavaScript; begin with (?i) to ignore case). files: a pattern of names such as *.ts or src/**/*.md; a plain word finds names that contain it.'),
  target: z.enum(['content', 'files']).default('content').describe('Search inside files, or for files by name, newest first.'),
  path: z.string().default('.').describe('Folder or file to search in.'),
  file_glob: z.string().min(1).max(500).optional().describe('content: only files that match, such as *.py or *.{ts,tsx}.'),
  limit: z.int().min(1).max(500).default(50).describe('Most matches to show.'),
  offset: z.int().min(0).default(0).describe('Matches to pass over, to go on where an earlier search ended.'),
  output_mode: z.enum(['content', 'files_only', 'count']).default('content').describe('content: matching lines; files_only: names of files; count: matching lines per file.'),
  context: z.int().min(0).max(20).default(0).describe('Lines to show around each match.'),
});
type SearchArgs = z.output<typeof args>;

const timeoutMs = 20_000;
const heapMb = 256;
const maxRepeats = 3;

/** Compiling is harmless; running is not, and happens elsewhere. */
const checkedPattern = ({ pattern, target, file_glob: glob }: SearchArgs): { readonly pattern: string; readonly ignoreCase: boolean } => {
  const names = target === 'files' ? pattern : glob;
  if (names !== undefined && readGlob(names) === undefined) throw new ToolError('bad_arguments', `${JSON.stringify(names)} is no pattern of file names. Write one such as *.ts or src/**/*.md.`);
  if (target === 'files') return { pattern: /[*?[{]/.test(pattern) ? pattern : `${pattern.includes('/') ? '**/' : ''}*${pattern}*`, ignoreCase: true };
  const ignoreCase = pattern.startsWith('(?i)');
  const source = ignoreCase ? pattern.slice(4) : pattern;
  try {
    return { pattern: new RegExp(source).source, ignoreCase };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ToolError('bad_arguments', `The pattern is no regular expression: ${error.message}. To find the characters ( ) [ ] { } . * + ? | ^ $ themselves, put a backslash before them.`, { cause: error });
  }
};

interface Outcome {
  readonly rows: readonly SearchRow[];
  readonly how: WorkerEnd;
  readonly end: Extract<SearchMessage, { type: 'end' }> | undefined;
}

const search = async (request: SearchRequest, { clock }: ToolContext, signal: AbortSignal): Promise<Outcome> => {
  const rows: SearchRow[] = [];
  let end: Outcome['end'];
  const how = await runBoundedWorker<SearchMessage>(
    {
      module: new URL('./search-worker.ts', import.meta.url),
      data: request,
      timeoutMs,
      heapMb,
      clock,
      onMessage(message) {
        if (message.type === 'rows') rows.push(...message.rows);
        else end = message;
      },
    },
    signal,
  );
  if (how.type === 'failed') throw how.cause;
  return { rows, how, end };
};

/** Lines below the name of their file; with lines around them, a mark where some are left out. */
const lineTexts = (rows: readonly SearchRow[], context: number, show: (row: SearchRow) => string): readonly string[] => {
  const out: string[] = [];
  let path: string | undefined;
  let line = 0;
  for (const row of rows) {
    if (row.type !== 'line') continue;
    const head = row.path === path ? (context > 0 && row.line !== line + 1 ? ['--'] : []) : path === undefined ? [show(row)] : ['', show(row)];
    out.push([...head, `${row.line}${row.match ? '|' : '-'}${row.text}`].join('\n'));
    path = row.path;
    line = row.line;
  }
  return out;
};

const fileTexts = (rows: readonly SearchRow[], { target, output_mode: output, offset, limit }: SearchArgs, show: (row: SearchRow) => string): readonly string[] => {
  const files = rows.flatMap((row) => (row.type === 'file' ? [row] : []));
  const page = target === 'files' ? files.toSorted((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1)).slice(offset, offset + limit) : files;
  return page.map((row) => (target === 'content' && output === 'count' ? `${show(row)}: ${row.count}` : show(row)));
};

const nothing = (how: WorkerEnd): string => {
  switch (how.type) {
    case 'timed_out':
      return `The search was stopped after ${timeoutMs / 1000} seconds without a result. Use a simpler pattern, a narrower path or file_glob.`;
    case 'out_of_memory':
      return 'The search needed too much memory and was stopped. Use a narrower path or file_glob.';
    case 'done':
    case 'failed':
      return 'Nothing found.';
    default:
      return how satisfies never;
  }
};

const notes = (given: SearchArgs, shown: number, { rows, how, end }: Outcome): readonly string[] => {
  const total = given.target === 'files' ? rows.length : undefined;
  const more = end?.more === true || (total !== undefined && total > given.offset + shown);
  return [
    ...(how.type === 'done' ? [] : [`[${how.type === 'timed_out' ? `Stopped after ${timeoutMs / 1000} seconds` : 'Stopped for want of memory'}: there may be more. Use a narrower path or file_glob.]`]),
    ...(more ? [`[There are more${total === undefined ? '' : ` (${total} in all)`}. Continue with offset ${given.offset + shown}.]`] : []),
    ...(end !== undefined && end.unreadable > 0 ? [`[${end.unreadable} files or folders could not be read.]`] : []),
  ];
};

/** As many texts as fit; at least one. */
const fitting = (texts: readonly string[], maxChars: number): readonly string[] => {
  let chars = 0;
  const end = texts.findIndex((text, index) => {
    chars += text.length + 1;
    return index > 0 && chars > maxChars;
  });
  return end === -1 ? texts : texts.slice(0, end);
};

const report = (given: SearchArgs, outcome: Outcome, at: { readonly access: FileAccess; readonly deps: FileToolsDeps }): string => {
  const { access, deps } = at;
  const show = ({ path }: SearchRow): string => access.show(path);
  const rows = outcome.rows.map((row) => (row.type === 'line' ? { ...row, text: deps.redact(row.text) } : row));
  const texts = given.target === 'content' && given.output_mode === 'content' ? lineTexts(rows, given.context, show) : fileTexts(rows, given, show);
  const shown = fitting(texts, deps.maxChars ?? defaultMaxChars);
  if (shown.length === 0) return given.offset > 0 && outcome.how.type === 'done' ? `Nothing more after offset ${given.offset}.` : nothing(outcome.how);
  const matches = given.target === 'content' && given.output_mode === 'content' ? rows.slice(0, shown.length).filter((row) => row.type === 'line' && row.match).length : shown.length;
  const cut = shown.length < texts.length ? { ...outcome, end: { type: 'end', files: 0, unreadable: 0, ...outcome.end, more: true } as const } : outcome;
  return [...shown, ...notes(given, matches, cut)].join('\n');
};

/** Counts the same search made again and again in one turn, which finds nothing new. */
const newRepeats = (): ((context: ToolContext, key: string) => number) => {
  const last = new Map<string, { readonly key: string; readonly count: number }>();
  return ({ sessionId, turnId }, search) => {
    const key = `${turnId}\0${search}`;
    const known = last.get(sessionId);
    const count = known?.key === key ? known.count + 1 : 1;
    last.delete(sessionId);
    last.set(sessionId, { key, count });
    const oldest = last.keys().next();
    if (last.size > 1000 && !oldest.done) last.delete(oldest.value);
    return count;
  };
};

export const searchFiles = (deps: FileToolsDeps): Tool => {
  const repeats = newRepeats();
  return defineTool({
    name: 'search_files',
    description: 'Searches inside files by regular expression, or finds files by name. Leaves out what git ignores, .git and node_modules. Use it instead of grep, find or ls.',
    args,
    parallelSafe: true,
    async run(given, context, signal) {
      if (repeats(context, JSON.stringify(given)) > maxRepeats) throw new ToolError('failed', `This same search was made ${maxRepeats} times in a row already. Change it, or work with what it found.`);
      const { pattern, ignoreCase } = checkedPattern(given);
      const access = await newFileAccess(deps, context);
      const place = await access.locate(given.path, 'read');
      if (!place.exists) throw new ToolError('bad_arguments', `${place.shown} does not exist.`);
      const request: SearchRequest = {
        root: place.real, target: given.target, pattern, ignoreCase, fileGlob: given.file_glob, output: given.output_mode, context: given.context,
        offset: given.offset, limit: given.limit, policy: access.policy, guarded: access.guarded,
      };
      return report(given, await deps.state.searches.run(signal, () => search(request, context, signal)), { access, deps });
    },
  });
};
