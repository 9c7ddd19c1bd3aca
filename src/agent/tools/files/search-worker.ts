import { readSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { parentPort, workerData } from 'node:worker_threads';
import { binaryKind } from './binary-kind.ts';
import { readGlob } from './glob.ts';
import type { SearchMessage, SearchRequest, SearchRow } from './search-request.ts';
import { writtenMs, walkFiles, withFile } from './walk-files.ts';
import type { Walk } from './walk-files.ts';

const chunkBytes = 65_536;
/** The rest of a longer line is not searched. */
const maxLineChars = 65_536;
const maxShownChars = 400;
/** Files are sorted by their age, so all of them are needed; this many at most. */
const maxFiles = 20_000;

/** The lines of an open file; none of a file that is not text. */
function* readLines(fd: number): Generator<string> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const decoder = new StringDecoder('utf8');
  let line = '';
  for (let first = true; ; first = false) {
    const count = readSync(fd, buffer, 0, chunkBytes, null);
    const bytes = buffer.subarray(0, count);
    if (first && binaryKind(bytes) !== undefined) return;
    const pieces = (count === 0 ? decoder.end() : decoder.write(bytes)).split('\n');
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) {
        yield line;
        line = '';
      }
      if (line.length < maxLineChars) line += piece.slice(0, maxLineChars - line.length);
    }
    if (count > 0) continue;
    if (line !== '') yield line;
    return;
  }
}

/** A part of a long line, with the match in it. */
const shownLine = (line: string, matchAt: number): string => {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (text.length <= maxShownChars) return text;
  const from = Math.max(0, Math.min(matchAt - 100, text.length - maxShownChars));
  return `${from > 0 ? '…' : ''}${text.slice(from, from + maxShownChars)}${from + maxShownChars < text.length ? '…' : ''}`.toWellFormed();
};

interface Progress {
  readonly request: SearchRequest;
  readonly pattern: RegExp;
  readonly send: (row: SearchRow) => void;
  /** Matches so far, or files that have one. */
  found: number;
  more: boolean;
}

const wanted = ({ request, found }: Progress): boolean => found > request.offset && found <= request.offset + request.limit;

/** Sends matching lines with the lines around them. */
const sendLines = (path: string, fd: number, progress: Progress): void => {
  const { request, pattern, send } = progress;
  const before: { line: number; text: string }[] = [];
  let number = 0;
  let after = 0;
  for (const line of readLines(fd)) {
    number += 1;
    const matchAt = line.search(pattern);
    if (matchAt !== -1) {
      progress.found += 1;
      progress.more = progress.found > request.offset + request.limit;
      if (progress.more) return;
    }
    const text = shownLine(line, Math.max(0, matchAt));
    if (matchAt !== -1 && wanted(progress)) {
      for (const earlier of before.splice(0)) send({ type: 'line', path, ...earlier, match: false });
      send({ type: 'line', path, line: number, text, match: true });
      after = request.context;
    } else if (after > 0) {
      send({ type: 'line', path, line: number, text, match: false });
      after -= 1;
    } else if (request.context > 0) {
      before.push({ line: number, text });
      if (before.length > request.context) before.shift();
    }
  }
};

/** Counts the matching lines of a file, only whether there is one if that is enough. */
const sendCount = (path: string, fd: number, progress: Progress): void => {
  const { request, pattern, send } = progress;
  let count = 0;
  for (const line of readLines(fd)) {
    if (line.search(pattern) === -1) continue;
    count += 1;
    if (request.output === 'files_only') break;
  }
  if (count === 0) return;
  progress.found += 1;
  progress.more = progress.found > request.offset + request.limit;
  if (wanted(progress)) send({ type: 'file', path, count, mtimeMs: 0 });
};

/** A pattern without a slash means the name, one with a slash the path below the root. */
const nameTest = (glob: string | undefined, root: string, ignoreCase: boolean): ((path: string) => boolean) => {
  if (glob === undefined) return () => true;
  const pattern = readGlob(glob.replace(/^\.?\//, ''), { ignoreCase }) ?? /^$/;
  return (path) => {
    const below = relative(root, path).split(sep).join('/');
    return pattern.test(glob.includes('/') ? below : below.slice(below.lastIndexOf('/') + 1));
  };
};

const search = (request: SearchRequest, post: (message: SearchMessage) => void): void => {
  let rows: SearchRow[] = [];
  const flush = (): void => {
    if (rows.length > 0) post({ type: 'rows', rows });
    rows = [];
  };
  const send = (row: SearchRow): void => {
    rows.push(row);
    if (rows.length >= 50) flush();
  };
  const walk: Walk = { request, unreadable: 0 };
  const pattern = request.target === 'content' ? new RegExp(request.pattern, request.ignoreCase ? 'i' : '') : /(?:)/;
  const progress: Progress = { request, pattern, send, found: 0, more: false };
  const named = nameTest(request.target === 'files' ? request.pattern : request.fileGlob, request.root, request.target === 'files');
  let files = 0;
  for (const path of walkFiles(walk)) {
    if (path !== request.root && !named(path)) continue;
    files += 1;
    if (request.target === 'files') send({ type: 'file', path, count: 0, mtimeMs: writtenMs(path, walk) });
    else {
      withFile(path, walk, (fd) => {
        if (request.output === 'content') sendLines(path, fd, progress);
        else sendCount(path, fd, progress);
      });
    }
    flush();
    progress.more ||= request.target === 'files' && files >= maxFiles;
    if (progress.more) break;
  }
  flush();
  post({ type: 'end', files, unreadable: walk.unreadable, more: progress.more });
};

if (parentPort !== null) {
  const port = parentPort;
  search(workerData as SearchRequest, (message) => port.postMessage(message));
}
