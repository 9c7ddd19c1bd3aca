import { parse } from 'unbash';
import type { ParameterExpansionPart, ParsedScript, Word, WordPart } from 'unbash';
import { braceAlternatives } from './braces.ts';
import { unknown } from './call.ts';
import type { Field } from './call.ts';

/** What a variable or a substitution may stand for. */
export interface Guess {
  readonly texts: readonly string[];
  /** Nothing else can happen to set it. */
  readonly certain: boolean;
}

export interface Surroundings {
  variable(name: string): Guess;
  /** What a substitution prints, where that can be seen from its text. */
  outputOf(script: ParsedScript): string | undefined;
  /** False when braces have been filled in too often already. */
  mayExpand(): boolean;
}

interface Piece {
  readonly texts: readonly string[];
  readonly computed: boolean;
  /** The shell cuts it at blanks. */
  readonly split: boolean;
  readonly glob: boolean;
}

/** For each thing that a word may stand for, the fields that it becomes. */
export type Alternatives = readonly (readonly Field[])[];

const maxAlternatives = 16;
const maxFields = 256;

const literal = (text: string, glob = false): Piece => ({ texts: [text], computed: false, split: false, glob });
const computed = (texts: readonly string[], split: boolean): Piece => ({ texts, computed: true, split, glob: false });

const fromVariable = (name: string, around: Surroundings, split: boolean): Piece => {
  const { texts, certain } = around.variable(name);
  return { texts, computed: !certain, split: split || name === '@', glob: false };
};

const textsOf = (word: Word, around: Surroundings): readonly string[] => expandWord(word, around).map((fields) => fields.map((field) => field.text).join(' '));

const fromParameter = (part: ParameterExpansionPart, around: Surroundings, split: boolean): Piece => {
  if (part.prefix !== undefined) return computed([unknown], split);
  const index = part.index?.text;
  const own = fromVariable(part.parameter, around, split || index === '@');
  if (part.operation === undefined) return index === undefined ? own : { ...own, computed: true };
  if (part.operation.type !== 'Default') return computed([unknown], split);
  const fallback = textsOf(part.operation.operand, around);
  return computed(part.operation.operator.includes('+') ? fallback : [...own.texts.filter((text) => text !== unknown), ...fallback], split);
};

const pieces = (part: WordPart, around: Surroundings, quoted: boolean): readonly Piece[] => {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [literal(part.value)];
    case 'Glob':
      return [literal(part.value, true)];
    case 'ExtendedGlob':
      return [literal(part.text, true)];
    case 'DoubleQuoted':
    case 'LocaleString':
      return [literal(''), ...part.parts.flatMap((child) => pieces(child, around, true))];
    case 'SimpleExpansion':
      return [fromVariable(part.text.slice(1), around, !quoted)];
    case 'ParameterExpansion':
      return [fromParameter(part, around, !quoted)];
    case 'CommandExpansion':
      return [computed([(part.script === undefined ? undefined : around.outputOf(part.script)) ?? unknown], !quoted)];
    case 'ProcessSubstitution':
      return [computed(['/dev/fd/63'], false)];
    case 'ArithmeticExpansion':
    case 'BraceExpansion':
      return [computed([unknown], false)];
    default:
      throw part satisfies never;
  }
};

const fieldsOf = (all: readonly Piece[], alternative: number): readonly Field[] => {
  const computed = all.some((piece) => piece.computed);
  const glob = all.some((piece) => piece.glob);
  const out: string[] = [];
  let current: string | undefined;
  for (const piece of all) {
    const text = piece.texts[Math.min(alternative, piece.texts.length - 1)] ?? '';
    const [first = '', ...more] = piece.split ? text.split(/[ \t\n]+/) : [text];
    if (first !== '' || !piece.split) current = (current ?? '') + first;
    for (const next of more) {
      if (current !== undefined) out.push(current);
      current = next === '' ? undefined : next;
    }
  }
  if (current !== undefined) out.push(current);
  return out.map((text) => ({ text, computed, glob }));
};

/** The word again, once for each alternative of its first brace. */
const expandBrace = (word: Word, brace: Extract<WordPart, { type: 'BraceExpansion' }>, around: Surroundings): Alternatives => {
  const lost: Alternatives = [[{ text: unknown, computed: true, glob: false }]];
  const alternatives = braceAlternatives(brace.text);
  const at = brace.pos - word.pos;
  if (alternatives === undefined || !word.text.startsWith(brace.text, at) || !around.mayExpand()) return lost;
  const fields: Field[] = [];
  for (const alternative of alternatives) {
    const source = word.text.slice(0, at) + alternative + word.text.slice(at + brace.text.length);
    const script = parse(`: ${source}`);
    const command = script.commands[0]?.command;
    if (script.errors !== undefined || script.commands.length !== 1 || command?.type !== 'Command') return lost;
    for (const each of command.args) fields.push(...(each.type === 'Word' ? (expandWord(each, around)[0] ?? []) : [{ text: each.text, computed: false, glob: false }]));
    if (fields.length > maxFields) return lost;
  }
  return [fields];
};

/** The fields that a word becomes, as far as they can be known beforehand. Never empty. */
export const expandWord = (word: Word, around: Surroundings): Alternatives => {
  if (word.parts === undefined) return [[{ text: word.value, computed: false, glob: false }]];
  const brace = word.parts.find((part) => part.type === 'BraceExpansion');
  if (brace !== undefined) return expandBrace(word, brace, around);
  const all = word.parts.flatMap((part) => pieces(part, around, false));
  const count = Math.min(maxAlternatives, Math.max(1, ...all.map((piece) => piece.texts.length)));
  return Array.from({ length: count }, (_, alternative) => fieldsOf(all, alternative));
};
