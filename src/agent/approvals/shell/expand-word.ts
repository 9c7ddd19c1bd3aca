import { parse } from 'unbash';
import type { ParameterExpansionPart, ParsedScript, Word, WordPart } from 'unbash';
import { expandBraces } from './braces.ts';
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
  if (part.operation.type === 'Remove') return { ...own, computed: true };
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
      return [computed([unknown], false)];
    case 'BraceExpansion':
      // Braces are filled in before; what is left of them stays as it is, but nobody should rely on that.
      return [computed([part.text], false)];
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

const lost: Alternatives = [[{ text: unknown, computed: true, glob: false }]];

/** Without looking for braces. */
const expandParts = (parts: readonly WordPart[], around: Surroundings): Alternatives => {
  const all = parts.flatMap((part) => pieces(part, around, false));
  const count = Math.min(maxAlternatives, Math.max(1, ...all.map((piece) => piece.texts.length)));
  return Array.from({ length: count }, (_, alternative) => fieldsOf(all, alternative));
};

/** A word again, as one of the words that its braces make of it. */
const expandSource = (source: string, around: Surroundings): readonly Field[] | undefined => {
  const script = parse(`: ${source}`);
  const command = script.commands[0]?.command;
  if (script.errors !== undefined || script.commands.length !== 1 || command?.type !== 'Command') return undefined;
  return command.args.flatMap((arg) => (arg.type !== 'Word' ? [{ text: arg.text, computed: false, glob: false }] : arg.parts === undefined ? [{ text: arg.value, computed: false, glob: false }] : (expandParts(arg.parts, around)[0] ?? [])));
};

/** The fields that a word becomes, as far as they can be known beforehand. Never empty. */
export const expandWord = (word: Word, around: Surroundings): Alternatives => {
  if (word.text.includes('{') && word.text.includes('}')) {
    const sources = around.mayExpand() ? expandBraces(word.text) : undefined;
    if (sources === undefined) return lost;
    if (sources.length > 1 || sources[0] !== word.text) {
      const fields = sources.map((source) => expandSource(source, around));
      return fields.includes(undefined) ? lost : [fields.flatMap((each) => each ?? [])];
    }
  }
  return word.parts === undefined ? [[{ text: word.value, computed: false, glob: false }]] : expandParts(word.parts, around);
};
