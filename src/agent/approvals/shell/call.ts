/** Stands in a field for what is only known when the shell runs. No program can be given this character. */
export const unknown = '\0';

/** One word of a command as the program would get it. */
export interface Field {
  readonly text: string;
  /** Some of it is computed while the shell runs; `text` is then a guess. */
  readonly computed: boolean;
  /** It holds wildcards that the shell fills in. */
  readonly glob: boolean;
}

export interface Redirection {
  readonly kind: 'read' | 'write';
  readonly path: Field;
}

/** Where a command's standard input comes from. */
export type Input =
  | { readonly type: 'inherited' }
  | { readonly type: 'file' }
  | { readonly type: 'text'; readonly text: string; readonly computed: boolean }
  | { readonly type: 'pipe'; readonly from: readonly ShellCall[] };

/** One program or builtin that a script would run, wherever in the script it stands. */
export interface ShellCall {
  /** Lower case, without its folder; empty where only variables are set or files opened. */
  readonly name: string;
  readonly command: Field;
  readonly args: readonly Field[];
  /** Variables set for this command alone. */
  readonly assignments: readonly (readonly [name: string, value: Field])[];
  readonly redirections: readonly Redirection[];
  readonly input: Input;
  /** What runs it in turn, outermost first: `sudo`, `xargs`. */
  readonly wrappers: readonly string[];
  /** Undefined when the script has left for a folder that cannot be known. */
  readonly cwd: string | undefined;
  readonly background: boolean;
}

/** Why nobody can tell beforehand what a script does. */
export type Doubt =
  | 'syntax' // it cannot be read
  | 'computed-command' // which program runs is decided while it runs
  | 'computed-code' // code that is put together while it runs
  | 'piped-code' // an interpreter reads its code from another program or a file
  | 'network-code' // the same, from the network
  | 'stored-code' // text that looks like code is kept in a variable
  | 'unknown-option' // a program that starts others, with an option we do not know
  | 'too-large';

/** What is known of the machine that a script would run on. */
export interface ShellFacts {
  readonly cwd: string;
  readonly home: string;
  /** What `$PPID` is. */
  readonly parentPid: number;
}

/** `bash`, or a shell that reads some of its syntax differently. */
export type Dialect = 'bash' | 'posix';

/** What a command runs in turn. */
export type Inner =
  | { readonly type: 'argv'; readonly fields: readonly Field[] }
  | { readonly type: 'code'; readonly text: string; readonly computed: boolean; readonly dialect: Dialect; /** What `$0`, `$1`, … are in it. */ readonly params?: readonly Field[] }
  | { readonly type: 'doubt'; readonly doubt: Doubt };

export const plainField = (text: string): Field => ({ text, computed: false, glob: false });

export const unknownField: Field = { text: unknown, computed: true, glob: false };
