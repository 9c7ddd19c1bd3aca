import { ToolError } from '../contract.ts';

/** One change inside a file. */
export interface Hunk {
  /** Lines after `@@` that narrow down where to look, outermost first. */
  readonly anchors: readonly string[];
  /** Kept lines begin with a space, removed ones with `-`, new ones with `+`. */
  readonly lines: readonly string[];
  /** The old lines are the last of the file. */
  readonly atEnd: boolean;
  /** Where it stands in the patch, for messages. */
  readonly line: number;
}

export type FilePatch =
  | { readonly type: 'add'; readonly path: string; readonly text: string }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'update'; readonly path: string; readonly moveTo?: string; readonly hunks: readonly Hunk[] };

const begin = '*** Begin Patch';
const end = '*** End Patch';
const header = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

const wrong = (line: number, what: string): ToolError => new ToolError('bad_arguments', `Line ${line} of the patch: ${what} Nothing was written.`);

/** A path of a patch may be anything that file tools take, but never climb: what is changed must stand in the patch as it is. */
const pathIn = (text: string, line: number): string => {
  const path = text.trim();
  if (path.split(/[\\/]/).includes('..')) throw wrong(line, `a path must not contain "..": ${path}.`);
  return path;
};

interface Cursor {
  readonly lines: readonly string[];
  at: number;
}

const peek = (cursor: Cursor): string | undefined => cursor.lines[cursor.at];
const isHeader = (line: string): boolean => line.startsWith('*** ') && line.trim() !== '*** End of File';

/** Only blank lines come before the next file or the end. */
const isOver = ({ lines, at }: Cursor): boolean => {
  const next = lines.slice(at).find((line) => line.trim() !== '');
  return next === undefined || isHeader(next);
};

const readAdded = (cursor: Cursor): string => {
  const added: string[] = [];
  for (let line = peek(cursor); line !== undefined && !isOver(cursor); line = peek(cursor)) {
    if (!line.startsWith('+')) throw wrong(cursor.at + 1, 'every line of an added file begins with "+".');
    added.push(line.slice(1));
    cursor.at += 1;
  }
  return added.map((line) => `${line}\n`).join('');
};

const readHunk = (cursor: Cursor): Hunk => {
  const start = cursor.at + 1;
  const anchors: string[] = [];
  for (let line = peek(cursor); line?.startsWith('@@'); line = peek(cursor)) {
    const anchor = line.slice(2).replace(/^ /, '').replace(/ @@\s*$/, '');
    // Numbers of lines are what unified diffs have there; they say nothing that could be relied on.
    if (anchor.trim() !== '' && !/^-\d+(?:,\d+)? \+\d+/.test(anchor)) anchors.push(anchor);
    cursor.at += 1;
  }
  const lines: string[] = [];
  let atEnd = false;
  for (let line = peek(cursor); line !== undefined && !line.startsWith('@@') && !atEnd && !isOver(cursor); line = peek(cursor)) {
    if (line.trim() === '*** End of File') atEnd = true;
    else if (line === '') lines.push(' ');
    else if (/^[ +-]/.test(line)) lines.push(line);
    else throw wrong(cursor.at + 1, 'begin every line with a space (kept), "-" (removed) or "+" (new).');
    cursor.at += 1;
  }
  if (!lines.some((line) => /^[+-]/.test(line))) throw wrong(start, 'this part changes nothing.');
  return { anchors, lines, atEnd, line: start };
};

const readUpdate = (path: string, cursor: Cursor): FilePatch => {
  const move = /^\*\*\* Move to: (.+)$/.exec(peek(cursor) ?? '');
  const moveTo = move === null ? undefined : pathIn(move[1] ?? '', cursor.at + 1);
  if (move !== null) cursor.at += 1;
  const hunks: Hunk[] = [];
  while (!isOver(cursor)) hunks.push(readHunk(cursor));
  if (hunks.length === 0 && moveTo === undefined) throw wrong(cursor.at, `${path} is named, but nothing in it is changed.`);
  return { type: 'update', path, ...(moveTo !== undefined && { moveTo }), hunks };
};

/** Reads a patch in the V4A form. Throws a `ToolError` that names the line. */
export const parsePatch = (text: string): readonly FilePatch[] => {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const first = lines.findIndex((line) => line.trim() === begin);
  const last = lines.findLastIndex((line) => line.trim() === end);
  if (first === -1) throw wrong(1, `the patch must begin with "${begin}".`);
  if (last < first) throw wrong(lines.length, `the patch must end with "${end}"; without it, it may be cut off.`);
  const cursor: Cursor = { lines: lines.slice(0, last), at: first + 1 };
  const patches: FilePatch[] = [];
  for (let line = peek(cursor); line !== undefined; line = peek(cursor)) {
    const match = header.exec(line);
    if (match === null && line.trim() !== '') throw wrong(cursor.at + 1, 'expected "*** Add File: ", "*** Update File: " or "*** Delete File: " and a path.');
    cursor.at += 1;
    if (match === null) continue;
    const path = pathIn(match[2] ?? '', cursor.at);
    if (match[1] === 'Add') patches.push({ type: 'add', path, text: readAdded(cursor) });
    else if (match[1] === 'Delete') patches.push({ type: 'delete', path });
    else patches.push(readUpdate(path, cursor));
  }
  if (patches.length === 0) throw wrong(first + 1, 'the patch names no file.');
  return patches;
};
