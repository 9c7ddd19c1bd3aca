import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ToolError } from '../../contract.ts';
import { docxLines } from './docx-lines.ts';
import { notebookLines } from './notebook-lines.ts';
import { xlsxLines } from './xlsx-lines.ts';
import { BadArchive, openZip } from './zip.ts';

type Lines = AsyncIterable<string> | Iterable<string>;

const mostFileBytes = 24 * 1024 * 1024;
const mostChars = 16 * 1024 * 1024;
/** Others get their turn after so many lines. */
const linesAtOnce = 500;

const readers: Readonly<Record<string, { readonly what: string; lines(bytes: Buffer): Lines | undefined }>> = {
  '.docx': { what: 'a Word document', lines: (bytes) => docxLines(openZip(bytes)) },
  '.docm': { what: 'a Word document', lines: (bytes) => docxLines(openZip(bytes)) },
  '.xlsx': { what: 'an Excel workbook', lines: (bytes) => xlsxLines(openZip(bytes)) },
  '.xlsm': { what: 'an Excel workbook', lines: (bytes) => xlsxLines(openZip(bytes)) },
  '.ipynb': { what: 'a notebook', lines: (bytes) => notebookLines(bytes.toString('utf8')) },
};

const collect = async (lines: Lines, signal: AbortSignal): Promise<string> => {
  const kept: string[] = [];
  let chars = 0;
  for await (const line of lines) {
    chars += line.length + 1;
    if (chars > mostChars) return [...kept, '[The rest is left out, because it is too long.]'].join('\n');
    kept.push(line.toWellFormed());
    if (kept.length % linesAtOnce === 0) await setImmediate(undefined, { signal });
  }
  return kept.join('\n');
};

const readWhole = async (handle: FileHandle, size: bigint, refuse: (why: string) => ToolError): Promise<Buffer> => {
  if (size > BigInt(mostFileBytes)) throw refuse(`is larger than ${mostFileBytes / 1024 / 1024} MB`);
  const bytes = Buffer.alloc(Number(size));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  return bytes.subarray(0, bytesRead);
};

/**
 * What stands in a Word document, an Excel workbook or a notebook, as text with a first line that says so. Undefined for every other file, by its name, and
 * for a notebook that is none. Throws a `ToolError` for one that cannot be read.
 */
export const documentText = async (file: { readonly handle: FileHandle; readonly size: bigint; readonly path: string; readonly shown: string }, signal: AbortSignal): Promise<string | undefined> => {
  const reader = readers[extname(file.path).toLowerCase()];
  if (reader === undefined || file.size === 0n) return undefined;
  const refuse = (why: string, cause?: unknown): ToolError => new ToolError('bad_arguments', `${file.shown} cannot be read as ${reader.what}: ${why}. Convert it to text first, for example with a command in the terminal.`, { cause });
  try {
    const lines = reader.lines(await readWhole(file.handle, file.size, refuse));
    return lines === undefined ? undefined : `[The text of ${reader.what}; its file looks different.]\n${await collect(lines, signal)}`;
  } catch (error) {
    if (error instanceof BadArchive) throw refuse(error.message, error);
    throw error;
  }
};
