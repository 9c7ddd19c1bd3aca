import { problemAt } from '../problem.ts';
import type { Problem } from '../problem.ts';
import { substitute } from './substitute.ts';

export interface EnvEntry {
  readonly name: string;
  readonly value: string;
  readonly line: number;
  /** The assignment in the text, without the line break that ends it. */
  readonly start: number;
  readonly end: number;
}

export interface EnvFile {
  /** In the order of the file; of two with one name the later counts. */
  readonly entries: readonly EnvEntry[];
  readonly problems: readonly Problem[];
}

const head = /(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*/y;
const singleQuoted = /'([^']*)'/y;
const doubleQuoted = /"((?:[^"\\]|\\[\s\S])*)"/y;
const bare = /[^\r\n]*/y;
const trailer = /[ \t]*(?:#[^\r\n]*)?(?=\r?\n|$)/y;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Escapes and references in one pass, so that neither can make the other. */
const expandDoubleQuoted = (body: string, expand: (text: string) => string): string =>
  body.replace(/\\([\s\S])|[^\\]+/g, (piece: string, escaped: string | undefined) => (escaped === undefined ? expand(piece) : (escapes[escaped] ?? escaped)));

type Value = { readonly text: string; readonly end: number } | { readonly fault: string };

/**
 * `NAME=value` lines with comments, `export`, and values in quotes that may span lines. Single quotes take everything
 * literally; elsewhere `${NAME}` and `${NAME:-default}` are replaced from `outer` and from lines above.
 */
export const parseEnvFile = (text: string, file: string, outer: (name: string) => string | undefined): EnvFile => {
  const entries: EnvEntry[] = [];
  const problems: Problem[] = [];
  const known = new Map<string, string>();
  let at = 0;
  let line = 1;

  const report = (message: string, name: string | undefined, code: 'syntax' | 'unset_variable'): void => {
    const origin = { kind: 'file', file, line, column: 1, path: [] } as const;
    problems.push({ ...problemAt(origin, [], { code, message }), ...(name !== undefined && { variable: name }) });
  };
  const moveTo = (next: number): void => {
    for (const character of text.slice(at, next)) if (character === '\n') line += 1;
    at = next;
  };
  const lookup = (name: string): string | undefined => outer(name) ?? known.get(name);

  while (at < text.length) {
    const content = match(/[ \t]*/y, text, at)?.end ?? at;
    const lineEnd = match(bare, text, at)?.end ?? text.length;
    const start = match(head, text, content);
    if (start === undefined) {
      const rest = text.slice(content, lineEnd);
      if (rest !== '' && !rest.startsWith('#')) report('this line is not NAME=value', undefined, 'syntax');
      moveTo(lineEnd + lineBreak(text, lineEnd));
      continue;
    }
    const name = start.groups[1] ?? '';
    let unset: readonly string[] = [];
    const value = readValue(text, start.end, (piece) => {
      const result = substitute(piece, lookup);
      unset = [...unset, ...result.unset];
      return result.text;
    });
    if ('fault' in value) {
      report(value.fault, name, 'syntax');
      moveTo(lineEnd + lineBreak(text, lineEnd));
      continue;
    }
    for (const missing of unset) report(`the variable ${missing} is not set`, name, 'unset_variable');
    if (unset.length === 0) {
      known.set(name, value.text);
      entries.push({ name, value: value.text, line, start: content, end: value.end });
    }
    const end = match(bare, text, value.end)?.end ?? text.length;
    moveTo(end + lineBreak(text, end));
  }
  return { entries, problems };
};

const readValue = (text: string, at: number, expand: (text: string) => string): Value => {
  const opening = text[at];
  if (opening === '"' || opening === "'") {
    const quoted = match(opening === "'" ? singleQuoted : doubleQuoted, text, at);
    if (quoted === undefined) return { fault: `the closing ${opening} is missing` };
    if (match(trailer, text, quoted.end) === undefined) return { fault: 'something follows the closing quote' };
    const body = quoted.groups[1] ?? '';
    return { text: opening === "'" ? body : expandDoubleQuoted(body, expand), end: quoted.end };
  }
  const raw = match(bare, text, at)?.text ?? '';
  const value = (raw.startsWith('#') ? '' : (raw.split(/[ \t]#/, 1)[0] ?? '')).trimEnd();
  return { text: expand(value), end: at + value.length };
};

const lineBreak = (text: string, at: number): number => (text.startsWith('\r\n', at) ? 2 : 1);

interface Match {
  readonly text: string;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

const match = (pattern: RegExp, text: string, at: number): Match | undefined => {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? undefined : { text: found[0], end: pattern.lastIndex, groups: found };
};
