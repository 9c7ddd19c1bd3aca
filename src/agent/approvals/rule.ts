import type { GatewayPlace } from './path-classes.ts';
import { unknown } from './shell/call.ts';
import type { Field, ShellCall, ShellFacts } from './shell/call.ts';
import { resolvePath } from './shell/resolve-path.ts';
import { splitOptions } from './shell/split-options.ts';
import type { OptionSpec } from './shell/split-options.ts';

/** What belongs to other agents of the gateway. */
export interface OtherAgents {
  /** Absolute, as are those below: folders and files that are closed with all that is in them. */
  readonly folders: readonly string[];
  /** What is the agent's own inside them. */
  readonly open: readonly string[];
}

/** What is known of the place where a command would run. */
export interface CommandFacts extends ShellFacts {
  readonly gateway: GatewayPlace & {
    readonly pid: number;
    /** As `ps` shows it. */
    readonly commandLine: string;
  };
  /** Absent where there is only one agent. */
  readonly others?: OtherAgents | undefined;
}

/** How far an approval of a class may reach. */
export type Reach = 'once' | 'session' | 'always';

/** One class of commands. */
export interface Rule {
  /** The name of the class, by which it is granted for a session or for good. */
  readonly pattern: string;
  /** What it does, for the person who decides; completes "This …". */
  readonly reason: string;
  /** Names of programs, `*` for any of them; `mkfs.*` for all that begin so. */
  readonly names: readonly string[];
  readonly when?: (call: ShellCall, facts: CommandFacts) => boolean;
  /** Done for the owner of the gateway and for nobody else. */
  readonly ownerOnly?: true;
}

const isNamed = (name: string, names: readonly string[]): boolean =>
  names.some((known) => known === '*' || known === name || (known.endsWith('*') && name.startsWith(known.slice(0, -1))));

export const ruleApplies = (rule: Rule, call: ShellCall, facts: CommandFacts): boolean => isNamed(call.name, rule.names) && (rule.when?.(call, facts) ?? true);

const beforeDashes = (args: readonly Field[]): readonly Field[] => {
  const at = args.findIndex((field) => field.text === '--');
  return at === -1 ? args : args.slice(0, at);
};

/** Whether an option is given, by one of its letters (also among others, `-rf`) or by its long name (also shortened, as GNU allows). */
export const hasOption = (call: ShellCall, letters: string, ...names: readonly string[]): boolean =>
  beforeDashes(call.args).some(({ text }) => {
    if (text.startsWith('--')) {
      const typed = text.slice(2).split('=')[0] ?? '';
      return typed !== '' && names.some((name) => name === typed || (typed.length > 2 && name.startsWith(typed)));
    }
    return /^-[^-]/.test(text) && [...letters].some((letter) => text.slice(1).includes(letter));
  });

/** Whether an option is given before the first operand. Where an option is not in the specification, all arguments count. */
export const isGiven = (call: ShellCall, spec: OptionSpec, letters: string, ...names: readonly string[]): boolean => {
  const { options, strange } = splitOptions(call.args, spec);
  return [...letters, ...names].some((name) => options.has(name)) || (strange && hasOption(call, letters, ...names));
};

/** Whether one of the words is among the arguments as it stands. */
export const hasWord = (call: ShellCall, ...words: readonly string[]): boolean => call.args.some(({ text }) => words.includes(text.toLowerCase()));

/** Arguments that are no options. */
export const operands = (call: ShellCall): readonly Field[] => {
  const at = call.args.findIndex((field) => field.text === '--');
  const [before, after] = at === -1 ? [call.args, []] : [call.args.slice(0, at), call.args.slice(at + 1)];
  return [...before.filter((field) => !/^-./.test(field.text)), ...after];
};

/** The words that say what a program with subcommands is to do: operands without the values of `valueOptions`. */
export const verbs = (call: ShellCall, valueOptions: readonly string[] = []): readonly string[] =>
  call.args.filter((field, at) => !/^-./.test(field.text) && !valueOptions.includes(call.args[at - 1]?.text ?? '')).map((field) => field.text.toLowerCase());

/** Whether the first words are these; a word may be a choice: `stop|restart`. */
export const saysTo = (call: ShellCall, phrases: readonly string[], valueOptions: readonly string[] = []): boolean => {
  const said = verbs(call, valueOptions);
  return phrases.some((phrase) => phrase.split(' ').every((choice, at) => choice.split('|').includes(said[at] ?? '')));
};

export const pathOf = (field: Field, call: ShellCall, facts: CommandFacts): string => resolvePath(field.text, { cwd: call.cwd, home: facts.home });

/** Paths that an argument may name: itself, and what stands behind `=`, `@` or `:` in it. */
export const pathsIn = (field: Field, call: ShellCall, facts: CommandFacts): readonly string[] => {
  const texts = new Set([field.text, ...field.text.split(/[=@:,]/), field.text.replace(/^-[A-Za-z]/, '')]);
  return [...texts].filter((text) => text !== '' && text !== unknown && !/\s{2,}|\n/.test(text)).map((text) => pathOf({ ...field, text }, call, facts));
};
