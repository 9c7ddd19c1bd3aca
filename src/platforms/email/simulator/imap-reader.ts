import type { Socket } from 'node:net';

/** A command as it came: its words, with quotes and literals opened, and lists as lists. */
export interface ImapCommand {
  readonly tag: string;
  readonly name: string;
  readonly args: readonly ImapWord[];
}

export type ImapWord = string | readonly ImapWord[];

/** Bytes of a socket, by the line and by the count. */
export const newByteReader = (socket: Socket) => {
  const chunks = socket[Symbol.asyncIterator]();
  let pending: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const { done, value } = (await chunks.next()) as IteratorResult<Buffer>;
    if (done === true) return false;
    pending = Buffer.concat([pending, value]);
    return true;
  };
  const take = (length: number): Buffer => {
    const taken = pending.subarray(0, length);
    pending = pending.subarray(length);
    return taken;
  };
  return {
    /** Undefined when the connection has ended. */
    async line(): Promise<string | undefined> {
      for (;;) {
        const end = pending.indexOf('\r\n');
        if (end !== -1) return take(end + 2).subarray(0, end).toString('utf8');
        if (!(await more())) return undefined;
      }
    },
    async bytes(length: number): Promise<string | undefined> {
      while (pending.byteLength < length) if (!(await more())) return undefined;
      return take(length).toString('utf8');
    },
  };
};

export type ByteReader = ReturnType<typeof newByteReader>;

const literal = /\{(\d+)(\+?)\}$/;

interface Piece {
  readonly text: string;
  /** What follows the text as a literal. */
  readonly literal?: string;
}

/** RFC 3501 section 2.2: quoted strings, lists, and atoms whose brackets may hold spaces. */
const readWords = (pieces: readonly Piece[]): readonly ImapWord[] => {
  const root: ImapWord[] = [];
  const open: ImapWord[][] = [root];
  const push = (word: string): void => void open.at(-1)?.push(word);
  for (const { text, literal: value } of pieces) {
    for (const [token, quoted] of text.matchAll(/"((?:\\.|[^"\\])*)"|\(|\)|(?:[^\s()"[]|\[[^\]]*\])+/g)) {
      if (quoted !== undefined) push(quoted.replaceAll(/\\(.)/g, '$1'));
      else if (token === '(') {
        const list: ImapWord[] = [];
        open.at(-1)?.push(list);
        open.push(list);
      } else if (token === ')') {
        if (open.length > 1) open.pop();
      } else if (value === undefined || !literal.test(token)) push(token);
    }
    if (value !== undefined) push(value);
  }
  return root;
};

/** Reads the next command with its literals; undefined when the connection has ended. */
export const readCommand = async (reader: ByteReader, invite: () => void): Promise<ImapCommand | undefined> => {
  const pieces: Piece[] = [];
  for (;;) {
    const text = await reader.line();
    if (text === undefined) return undefined;
    const [, length, plus] = literal.exec(text) ?? [];
    if (length === undefined) {
      pieces.push({ text });
      break;
    }
    if (plus === '') invite();
    const value = await reader.bytes(Number(length));
    if (value === undefined) return undefined;
    pieces.push({ text, literal: value });
  }
  const [tag = '', name = '', ...args] = readWords(pieces);
  return { tag: String(tag), name: String(name).toUpperCase(), args };
};
