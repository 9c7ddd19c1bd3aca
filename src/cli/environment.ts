import { stripVTControlCharacters, styleText } from 'node:util';
import type { SecretCommands } from '../config/secrets/secret-commands.ts';
import type { Environment } from '../config/variables.ts';
import { printable } from '../lib/printable.ts';
import type { Redactor } from '../lib/redact.ts';
import { textWidth } from '../lib/text-width.ts';

export { span } from '../lib/span.ts';

/** What a subcommand gets from the outside world, so that tests can stand in for it. */
export interface Terminal {
  readonly env: Environment;
  readonly version: string;
  /** Learns every secret that the command reads, for the error it may end with. */
  readonly redactor?: Redactor;
  /** Asks each command that prints a secret once, however often this one reads the configuration. */
  readonly commands?: SecretCommands;
  /** What `write` ends in; colours appear only when it is a terminal that wants them. */
  readonly stream?: NodeJS.WriteStream;
  write(text: string): void;
  writeError(text: string): void;
}

/** Everything has been said; the process only has to leave with this code. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`leaving with ${code}`);
    this.name = 'Exit';
    this.code = code;
  }
}

/** What was asked for cannot be done; says why and leaves with 1. */
export const refuse = (terminal: Pick<Terminal, 'writeError'>, sentence: string): never => {
  terminal.writeError(`${sentence}\n`);
  throw new Exit(1);
};

type Style = Parameters<typeof styleText>[0];

export const paint = (terminal: Terminal, style: Style, text: string): string => (terminal.stream?.isTTY === true ? styleText(style, text, { stream: terminal.stream }) : text);

/** What `paint` writes around a text; whatever else a terminal would obey comes from others. */
const ownStyle = new RegExp(String.raw`(\u{1b}\[(?:0|1|2|22|3[0-79]|9[0-7])m)`, 'u');

/** A cell is one line, and keeps nothing that a terminal would obey but our own colours. */
const cleanCell = (cell: string): string =>
  cell
    .split(ownStyle)
    .map((part, i) => (i % 2 === 1 ? part : printable(part).replaceAll(/\s+/g, ' ')))
    .join('');

const cellWidth = (cell: string): number => textWidth(stripVTControlCharacters(cell));

/** Columns as wide as their widest cell. The last one is not padded. */
export const table = (rows: readonly (readonly string[])[]): string => {
  const clean = rows.map((row) => row.map(cleanCell));
  const widths = (clean[0] ?? []).map((_cell, i) => Math.max(...clean.map((row) => cellWidth(row[i] ?? ''))));
  const padded = (cell: string, i: number): string => `${cell}${' '.repeat(Math.max(0, (widths[i] ?? 0) - cellWidth(cell)))}`;
  return clean.map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : padded(cell, i))).join('  ').trimEnd()).join('\n');
};

export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
