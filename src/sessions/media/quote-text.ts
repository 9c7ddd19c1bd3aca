import { open } from 'node:fs/promises';
import { binaryKind } from '../../agent/tools/files/binary-kind.ts';
import { markUntrusted } from '../../agent/untrusted-text.ts';
import { sizeWords } from './file-words.ts';

/** How much of a message may be the text of files, however much the model reads. */
export const mostQuotedBytes = 100 * 1024;
/** Of a file that does not fit only this much is shown. */
const headBytes = 16 * 1024;

export interface Quoted {
  /** For the message; marked as data. */
  readonly text: string;
  readonly bytes: number;
}

/** Documents that are made of letters and yet no text to read. */
const markedUp = /^(?:\{\\rtf|%!PS|%PDF-)/;

const encodingOf = (bytes: Uint8Array): string => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
};

/** Undefined for what is not text. A character that the end of the bytes cuts in two is left out. */
const decode = (bytes: Uint8Array): string | undefined => {
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-8' && binaryKind(bytes) !== undefined) return undefined;
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
  return text.includes('\0') || markedUp.test(text) ? undefined : text.replaceAll('\r\n', '\n');
};

const readHead = async (path: string, roomBytes: number): Promise<{ readonly bytes: Uint8Array; readonly size: number }> => {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const wanted = size <= roomBytes ? size : Math.min(headBytes, roomBytes);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(wanted), 0, wanted, 0);
    return { bytes: buffer.subarray(0, bytesRead), size };
  } finally {
    await file.close();
  }
};

/** The words of a text file, whatever it is called, or the first of them where there is no room for all. Undefined for a file that is not text. */
export const quoteText = async (file: { readonly path: string; readonly name: string }, roomBytes: number): Promise<Quoted | undefined> => {
  const { bytes, size } = await readHead(file.path, roomBytes);
  const name = JSON.stringify(file.name.slice(0, 80).toWellFormed());
  if (size === 0) return { text: `[The file ${name} is empty.]`, bytes: 0 };
  const text = decode(bytes);
  if (text === undefined || text === '') return undefined;
  const block = markUntrusted(`the file ${name}`, text);
  const rest = `[Those are the first ${sizeWords(bytes.length)} of ${sizeWords(size)}. Read the rest from the file itself.]`;
  return { text: bytes.length < size ? `${block}\n${rest}` : block, bytes: bytes.length };
};
