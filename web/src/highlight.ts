export interface Token {
  readonly kind: 'text' | 'comment' | 'string' | 'number' | 'keyword' | 'added' | 'removed';
  readonly text: string;
}

interface Grammar {
  readonly comment: string;
  readonly keywords: ReadonlySet<string>;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const slashes = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const hash = String.raw`(?<![\w$&{])#[^\n]*`;
const dashes = String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;

const script: Grammar = {
  comment: slashes,
  keywords: words(
    'abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface is keyof let new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined using var void while with yield',
  ),
};
const systems: Grammar = {
  comment: slashes,
  keywords: words(
    'as auto bool break case catch chan char class const continue crate default defer do double else enum extern false final float fn for func go goto if impl import in int interface let long loop map match mod mut namespace new nil null package private protected pub public range return self short signed sizeof static string struct super switch template this throw trait true try type typedef union unsafe unsigned use using var virtual void volatile where while yield',
  ),
};
const python: Grammar = {
  comment: hash,
  keywords: words('and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield'),
};
const shell: Grammar = { comment: hash, keywords: words('case do done elif else esac export fi for function if in local return set source then until while sudo cd echo exit true false null yes no on off') };
const sql: Grammar = {
  comment: dashes,
  keywords: words(
    'add all alter and as asc begin between by case commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with',
  ),
};

const grammars: readonly (readonly [ReadonlySet<string>, Grammar])[] = [
  [words('js jsx mjs cjs ts tsx javascript typescript json jsonc json5 css scss less'), script],
  [words('c h cpp cc c++ cs csharp go golang java kotlin kt rust rs swift php scala dart zig'), systems],
  [words('py python rb ruby'), python],
  [words('sh bash zsh shell console fish yaml yml toml ini env dockerfile makefile conf'), shell],
  [words('sql postgres postgresql sqlite mysql'), sql],
];

const strings = String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|${'`'}(?:[^${'`'}\\]|\\[\s\S])*${'`'}?`;
const numbers = String.raw`(?<![\w.-])(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w-])`;

const highlightDiff = (code: string): readonly Token[] =>
  code.split(/(?<=\n)/).map((text): Token => ({ kind: text.startsWith('+') ? 'added' : text.startsWith('-') ? 'removed' : text.startsWith('@@') ? 'comment' : 'text', text }));

const highlightWith = (grammar: Grammar, code: string, ignoreCase: boolean): readonly Token[] => {
  const pattern = new RegExp(`(?<comment>${grammar.comment})|(?<string>${strings})|(?<number>${numbers})|(?<word>[A-Za-z_$][\\w$]*)`, 'g');
  const tokens: Token[] = [];
  let at = 0;
  const add = (kind: Token['kind'], text: string): void => void (text !== '' && tokens.push({ kind, text }));
  for (const match of code.matchAll(pattern)) {
    const { comment, string, number, word } = match.groups ?? {};
    const isKeyword = word !== undefined && grammar.keywords.has(ignoreCase ? word.toLowerCase() : word);
    if (word !== undefined && !isKeyword) continue;
    add('text', code.slice(at, match.index));
    add(comment !== undefined ? 'comment' : string !== undefined ? 'string' : number !== undefined ? 'number' : 'keyword', match[0]);
    at = match.index + match[0].length;
  }
  add('text', code.slice(at));
  return tokens;
};

const longest = 50_000;

/** Colours for code in common languages; what is not known, or too long, stays plain. The texts joined are the code. */
export const highlight = (code: string, language: string): readonly Token[] => {
  const name = language.toLowerCase();
  if (code.length > longest) return [{ kind: 'text', text: code }];
  if (name === 'diff' || name === 'patch') return highlightDiff(code);
  const grammar = grammars.find(([names]) => names.has(name))?.[1];
  return grammar === undefined ? [{ kind: 'text', text: code }] : highlightWith(grammar, code, grammar === sql);
};
