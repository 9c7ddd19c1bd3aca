/** Keys and list positions from the root of the configuration. */
export type SettingPath = readonly (string | number)[];

/** Where a value came from; `via` is what the place names instead of holding the value: a file, or a command. */
export type Origin =
  | { readonly kind: 'file'; readonly file: string; readonly line: number; readonly column: number; readonly path: SettingPath; readonly via?: string }
  /** `file` and `line` are those of `.env`; absent for the process environment. */
  | { readonly kind: 'variable'; readonly name: string; readonly file?: string; readonly line?: number; readonly via?: string }
  | { readonly kind: 'default' };

export type ProblemCode = 'unreadable' | 'syntax' | 'unknown_key' | 'missing' | 'invalid' | 'unset_variable' | 'conflict' | 'unused' | 'retired' | 'exposed';

/** Something wrong at one place of the configuration, or odd when it is a warning. It never holds a value of a setting. */
export interface Problem {
  readonly code: ProblemCode;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly variable?: string;
  readonly path: string;
  readonly message: string;
  /** What to write instead. */
  readonly suggestion?: string;
}

/** A key that is not a plain word may be a value with a colon missing in front of it, so it is not repeated. */
export const isPlainKey = (key: string): boolean => /^[\w.@:+#/-]{1,64}$/.test(key);

/** `platforms.telegram.allowed_users[0]`. */
export const formatPath = (path: SettingPath): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const key = isPlainKey(step) ? step : '(…)';
    return text === '' ? key : `${text}.${key}`;
  }, '');

/** `config.yaml:7`, `.env:2 NAME`, `env NAME` or `default`; for what stands elsewhere `file /run/secrets/telegram (config.yaml:7)`. */
export const formatOrigin = (origin: Origin): string => (origin.kind === 'default' || origin.via === undefined ? formatPlain(origin) : `${origin.via} (${formatPlain(origin)})`);

const formatPlain = (origin: Origin): string => {
  switch (origin.kind) {
    case 'file':
      return `${origin.file}:${origin.line}`;
    case 'variable':
      return origin.file === undefined ? `env ${origin.name}` : `${origin.file}:${origin.line} ${origin.name}`;
    case 'default':
      return 'default';
    default:
      return origin satisfies never;
  }
};

export interface ProblemText {
  readonly code: ProblemCode;
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** The path under which the value was written; `otherwise` for values that are in no file. */
export const writtenPath = (origin: Origin, otherwise: SettingPath): SettingPath => (origin.kind === 'file' ? origin.path : otherwise);

export const problemAt = (origin: Origin, path: SettingPath, text: ProblemText): Problem => ({
  code: text.code,
  ...(origin.kind === 'file' && { file: origin.file, line: origin.line, column: origin.column }),
  ...(origin.kind === 'variable' && { variable: origin.name }),
  ...(origin.kind === 'variable' && origin.file !== undefined && { file: origin.file }),
  ...(origin.kind === 'variable' && origin.line !== undefined && { line: origin.line }),
  path: formatPath(path),
  message: text.message,
  ...(text.suggestion !== undefined && { suggestion: text.suggestion }),
});

/** `config.yaml:7:5`, `.env:2`, `environment`; empty for a problem of no place. */
export const formatPlace = (problem: Problem): string => {
  if (problem.file === undefined) return problem.variable === undefined ? '' : 'environment';
  return [problem.file, problem.line, problem.column].filter((part) => part !== undefined).join(':');
};

/** `config.yaml:7:5  platforms.telegram.alowed_users  unknown key; did you mean allowed_users?` */
export const formatProblem = (problem: Problem): string => {
  const message = problem.suggestion === undefined ? problem.message : `${problem.message}; did you mean ${problem.suggestion}?`;
  const subject = problem.variable === undefined ? problem.path : [problem.path, `(${problem.variable})`].filter((part) => part !== '').join(' ');
  return [formatPlace(problem), subject, message].filter((part) => part !== '').join('  ');
};
