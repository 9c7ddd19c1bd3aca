import { z } from 'zod';
import { ToolError } from '../contract.ts';
import type { Tool } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { binaryKind, binaryRefusal, sniffBytes } from './binary-kind.ts';
import { documentText } from './documents/document-text.ts';
import { newFileAccess } from './file-access.ts';
import type { FileToolsDeps, OpenPlace, Place } from './file-access.ts';
import { hideSecrets } from './hide-secrets.ts';
import { readLines, textSource } from './read-lines.ts';
import type { LineWindow } from './read-lines.ts';
import { sameStamp, stampOf } from './seen-files.ts';
import type { SeenFile } from './seen-files.ts';

/** Leaves room for notes below the longest result of a tool. */
export const defaultMaxChars = 90_000;

const args = z.object({
  path: z.string().describe('The file; relative to the working folder, absolute, or beginning with ~/.'),
  offset: z.int().min(1).default(1).describe('Number of the first line to show.'),
  limit: z.int().min(1).max(2000).default(500).describe('How many lines to show.'),
  char_offset: z.int().min(0).default(0).describe('Characters of the first line to leave out; only for lines that were cut.'),
});
type ReadArgs = z.output<typeof args>;

const footer = (window: LineWindow, { offset, char_offset }: ReadArgs): string | undefined => {
  const last = offset + window.lines.length - 1;
  if (window.cutAtChar !== undefined) return `[Line ${offset} goes on. Continue with offset ${offset} and char_offset ${window.cutAtChar}.]`;
  const of = window.total === undefined ? 'of a very long file' : `of ${window.total}`;
  if (window.more) return `[Lines ${offset}-${last} ${of}. Continue with offset ${last + 1}.]`;
  return offset === 1 && char_offset === 0 ? undefined : `[Lines ${offset}-${last} ${of}; this is the end.]`;
};

const display = (window: LineWindow, lines: readonly (string | undefined)[], at: { readonly read: ReadArgs; readonly shown: string }): string => {
  const { read, shown } = at;
  if (window.lines.length === 0) {
    if (window.total === 0) return `[${shown} is empty.]`;
    throw new ToolError('bad_arguments', `${shown} has ${window.total} lines; offset ${read.offset} is beyond its end.`);
  }
  const numbered = lines.flatMap((line, index) => (line === undefined ? [] : [`${read.offset + index}|${line}`]));
  const doubtful = window.lines.some((line) => line.includes('\uFFFD')) ? '[Some characters could not be read as UTF-8 and are shown as \uFFFD.]' : undefined;
  return [...numbered, doubtful, footer(window, read)].filter((line) => line !== undefined).join('\n');
};

const refuseBinary = async ({ handle, stats }: OpenPlace, shown: string): Promise<void> => {
  const head = Buffer.alloc(Math.min(sniffBytes, Number(stats.size)));
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  const kind = binaryKind(head.subarray(0, bytesRead));
  if (kind !== undefined) throw new ToolError('bad_arguments', binaryRefusal(kind, shown));
};

/** A part that was shown before and has not changed is pointed to, once; whoever asks again does not have it any more. */
const pointer = (seen: SeenFile | undefined, part: string, shown: string): string | undefined =>
  seen?.parts.get(part) === 'shown' ? `[${shown} has not changed since you read this part of it in this conversation. Ask again if you no longer have it.]` : undefined;

export const readFile = (deps: FileToolsDeps): Tool =>
  defineTool({
    name: 'read_file',
    description:
      'Reads a text file, or the text of a Word document (docx), an Excel workbook (xlsx) or a notebook (ipynb). Lines come as `number|text`; the numbers are not part of the file. Long files come in parts: go on with `offset`. Use it instead of cat, head or tail.',
    args,
    parallelSafe: true,
    async run(read, context, signal) {
      const access = await newFileAccess(deps, context);
      const place: Place = await access.locate(read.path, 'read');
      const file = await access.open(place);
      try {
        const stamp = stampOf(file.stats);
        const known = deps.state.seen.get(context.sessionId, place.real);
        const seen = known !== undefined && sameStamp(known.stamp, stamp) ? known : undefined;
        const part = `${read.offset}:${read.limit}:${read.char_offset}`;
        const pointed = pointer(seen, part, place.shown);
        if (pointed !== undefined && seen !== undefined) {
          deps.state.seen.set(context.sessionId, place.real, { ...seen, parts: new Map(seen.parts).set(part, 'pointed') });
          return pointed;
        }
        const document = await documentText({ handle: file.handle, size: file.stats.size, path: place.real, shown: place.shown }, signal);
        if (document === undefined) await refuseBinary(file, place.shown);
        const range = { first: read.offset, count: read.limit, skipChars: read.char_offset, maxChars: deps.maxChars ?? defaultMaxChars };
        const window = await readLines(document === undefined ? file.handle : textSource(document), range, signal);
        const lines = hideSecrets(window.lines, (text) => deps.redact(text));
        const text = display(window, lines, { read, shown: place.shown });
        const redacted = lines.some((line, index) => line !== window.lines[index]) || (known?.redacted ?? false);
        deps.state.seen.set(context.sessionId, place.real, { stamp, parts: new Map(seen?.parts).set(part, 'shown'), redacted });
        return text;
      } finally {
        await file.handle.close();
      }
    },
  });
