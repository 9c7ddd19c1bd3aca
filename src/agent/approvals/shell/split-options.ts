import type { Field } from './call.ts';

/** Which options a program has, in the words of getopt: `u:` is a letter with a value, `e::` one that may have it glued on, `user=` a name with one. */
export interface OptionSpec {
  readonly letters?: string;
  readonly names?: readonly string[];
}

export interface SplitOptions {
  /** Letters and names, with their value where they have one. */
  readonly options: ReadonlyMap<string, Field | undefined>;
  /** Everything from the first word that is no option. */
  readonly rest: readonly Field[];
  /** An option that is not in the specification: where the rest begins is a guess. */
  readonly strange: boolean;
}

interface Parsed {
  readonly name: string;
  readonly value?: Field;
  /** Its value is the next word. */
  readonly wantsNext: boolean;
}

const parseLong = (arg: Field, names: readonly string[]): Parsed | undefined => {
  const [typed = '', ...value] = arg.text.slice(2).split('=');
  const known = names.find((name) => name === typed || name === `${typed}=`) ?? names.find((name) => typed !== '' && name.startsWith(typed));
  if (known === undefined) return undefined;
  const name = known.replace(/=$/, '');
  if (value.length > 0) return { name, value: { ...arg, text: value.join('=') }, wantsNext: false };
  return { name, wantsNext: known.endsWith('=') };
};

const parseShort = (arg: Field, letters: string): readonly Parsed[] | undefined => {
  const out: Parsed[] = [];
  for (let i = 1; i < arg.text.length; i += 1) {
    const letter = arg.text[i] ?? '';
    const at = letter === ':' ? -1 : letters.indexOf(letter);
    if (at === -1) return undefined;
    if (letters[at + 1] !== ':') {
      out.push({ name: letter, wantsNext: false });
      continue;
    }
    const glued = arg.text.slice(i + 1);
    const optional = letters[at + 2] === ':';
    return [...out, glued === '' ? { name: letter, wantsNext: !optional } : { name: letter, value: { ...arg, text: glued }, wantsNext: false }];
  }
  return out;
};

/** Takes the options off the start of an argument list, as a program does that hands the rest to another one. */
export const splitOptions = (args: readonly Field[], spec: OptionSpec): SplitOptions => {
  const options = new Map<string, Field | undefined>();
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i];
    if (arg === undefined || !arg.text.startsWith('-') || arg.text === '-') return { options, rest: args.slice(i), strange: false };
    if (arg.text === '--') return { options, rest: args.slice(i + 1), strange: false };
    const parsed = arg.text.startsWith('--') ? parseLong(arg, spec.names ?? []) : parseShort(arg, spec.letters ?? '');
    if (parsed === undefined) return { options, rest: args.slice(i + 1), strange: true };
    for (const each of [parsed].flat()) {
      if (each.wantsNext) i += 1;
      options.set(each.name, each.wantsNext ? args[i] : each.value);
    }
  }
  return { options, rest: [], strange: false };
};
