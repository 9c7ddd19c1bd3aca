import { unknownField } from './call.ts';
import type { Dialect, Field, Inner, ShellCall } from './call.ts';
import { splitOptions } from './split-options.ts';
import type { OptionSpec } from './split-options.ts';
import { commandVariables, foreignShells, readableShells, wrappers } from './wrappers.ts';
import type { Wrapper } from './wrappers.ts';

const doubt = (kind: Extract<Inner, { type: 'doubt' }>['doubt']): Inner => ({ type: 'doubt', doubt: kind });

const code = (field: Field, dialect: Dialect = 'bash'): Extract<Inner, { type: 'code' }> => ({ type: 'code', text: field.text, computed: field.computed, dialect });

const joined = (fields: readonly Field[]): Field => ({ text: fields.map((field) => field.text).join(' '), computed: fields.some((field) => field.computed), glob: false });

const argv = (fields: readonly Field[]): readonly Inner[] => (fields.length === 0 ? [] : [{ type: 'argv', fields }]);

const isAssignment = (field: Field): boolean => /^[A-Za-z_]\w*=/.test(field.text);

/** The words that come through a pipe, as far as they can be seen. */
const pipedWords = ({ input }: ShellCall): readonly Field[] => {
  const [only, ...others] = input.type === 'pipe' ? input.from : [];
  const printed = only === undefined || others.length > 0 ? undefined : printedBy(only);
  const text = input.type === 'text' ? input.text : printed?.text;
  return [...(text?.split(/\s+/).filter((word) => word !== '').map((word) => ({ text: word, computed: true, glob: false })) ?? []), unknownField];
};

const fromWrapper = (call: ShellCall, wrapper: Wrapper): readonly Inner[] => {
  const { rest, strange, options } = splitOptions(call.args, wrapper);
  const words = rest.slice(wrapper.operands ?? 0);
  const start = wrapper.assignments === true ? words.findIndex((field) => !isAssignment(field)) : 0;
  const fields = start === -1 ? [] : words.slice(start);
  const replaced = [options.get('I')?.text, options.get('i')?.text, options.get('replace')?.text, '{}'];
  const filled = wrapper.appends !== true ? fields : fields.map((field) => (replaced.some((mark) => mark !== undefined && mark !== '' && field.text.includes(mark)) ? { ...field, computed: true } : field));
  return [...(strange ? [doubt('unknown-option')] : []), ...argv(wrapper.appends === true && filled.length > 0 ? [...filled, ...pipedWords(call)] : filled)];
};

/** The programs that fetch something from elsewhere. */
const fetchers: ReadonlySet<string> = new Set(['curl', 'wget', 'fetch', 'http', 'https', 'aria2c', 'nc', 'ncat', 'netcat', 'socat', 'ftp', 'lynx', 'w3m', 'scp', 'ssh', 'aws', 'gsutil']);

/** Code that comes through standard input. */
const fromInput = (call: ShellCall, dialect: Dialect | undefined): readonly Inner[] => {
  const { input } = call;
  switch (input.type) {
    case 'inherited':
      return [];
    case 'file':
      return [doubt('piped-code')];
    case 'text':
      return dialect === undefined ? [doubt('piped-code')] : [code({ text: input.text, computed: input.computed, glob: false }, dialect)];
    case 'pipe': {
      if (input.from.some((source) => fetchers.has(source.name))) return [doubt('network-code')];
      const [only, ...others] = input.from;
      const printed = others.length === 0 && only !== undefined && dialect !== undefined ? printedBy(only) : undefined;
      return [doubt('piped-code'), ...(printed === undefined || dialect === undefined ? [] : [code(printed, dialect)])];
    }
    default:
      throw input satisfies never;
  }
};

/** What `echo` or a plain `printf` writes. */
export const printedBy = (call: Pick<ShellCall, 'name' | 'args'> & Partial<Pick<ShellCall, 'input'>>): Field | undefined => {
  if (call.name === 'cat' && call.args.length === 0 && call.input?.type === 'text') return { text: call.input.text, computed: call.input.computed, glob: false };
  if (call.name === 'echo') return joined(call.args.filter((field, at) => at > 0 || !/^-[neE]+$/.test(field.text)));
  if (call.name !== 'printf' || call.args[0] === undefined) return undefined;
  const [format, ...values] = call.args;
  const decoded = format.text.replaceAll(/\\x([0-9a-f]{1,2})|\\0?([0-7]{1,3})|\\n/gi, (_, hex?: string, octal?: string) => (hex !== undefined ? String.fromCodePoint(Number.parseInt(hex, 16)) : octal !== undefined ? String.fromCodePoint(Number.parseInt(octal, 8)) : '\n'));
  const text = decoded.replaceAll(/%[sb]/g, () => values.shift()?.text ?? '');
  return { text, computed: call.args.some((field) => field.computed), glob: false };
};

const shellOptions: OptionSpec = {
  letters: 'abcefhiklmnprstuvxBCDEHPTO:o:',
  names: ['login', 'norc', 'noprofile', 'posix', 'restricted', 'verbose', 'rcfile=', 'init-file=', 'noediting', 'debugger', 'help', 'version'],
};

const fromShell = (call: ShellCall, dialect: Dialect): readonly Inner[] => {
  const args = call.args.map((field) => (/^\+[A-Za-z]/.test(field.text) ? { ...field, text: `-${field.text.slice(1)}` } : field));
  const { options, rest, strange } = splitOptions(args, shellOptions);
  const [first] = rest;
  const startup = options.get('rcfile') ?? options.get('init-file');
  const doubts = [...(strange ? [doubt('unknown-option')] : []), ...(startup?.computed === true ? [doubt('computed-code')] : [])];
  if (options.has('c')) return [...doubts, ...(first === undefined ? [] : [{ ...code(first, dialect), params: rest.slice(1) }])];
  if (first === undefined || options.has('s') || first.text === '-' || /^\/dev\/(?:stdin|fd\/0)$/.test(first.text)) return [...doubts, ...fromInput(call, dialect)];
  return first.computed || first.text.startsWith('/dev/fd/') ? [...doubts, doubt('computed-code')] : doubts;
};

const fromFind = (call: ShellCall): readonly Inner[] => {
  const out: Inner[] = [];
  for (let i = 0; i < call.args.length; i += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(call.args[i]?.text ?? '')) continue;
    const rest = call.args.slice(i + 1);
    const end = rest.findIndex((field, at) => field.text === ';' || (field.text === '+' && rest[at - 1]?.text === '{}'));
    const fields = (end === -1 ? rest : rest.slice(0, end)).map((field) => (field.text.includes('{}') ? { ...field, text: field.text.replaceAll('{}', '\0'), computed: true } : field));
    out.push(...argv(fields));
    i += fields.length;
  }
  return out;
};

/** The words behind the first of these. */
const after = (args: readonly Field[], ...marks: readonly string[]): readonly Field[] => {
  const at = args.findIndex((field) => marks.includes(field.text));
  return at === -1 ? [] : args.slice(at + 1);
};

/** The value behind an option, apart or glued to it with `=`. */
const valueOf = (args: readonly Field[], ...names: readonly string[]): Field | undefined => {
  const glued = args.find((field) => names.some((name) => name.startsWith('--') && field.text.startsWith(`${name}=`)));
  return glued === undefined ? after(args, ...names)[0] : { ...glued, text: glued.text.slice(glued.text.indexOf('=') + 1) };
};

/** The same for letters that may stand among others (`-qc`), before or behind operands. */
const letterValue = (args: readonly Field[], spec: OptionSpec, ...names: readonly string[]): Field | undefined => {
  const { options, rest } = splitOptions(args, spec);
  const found = names.map((name) => options.get(name)).find((value) => value !== undefined);
  return found ?? (rest.length > 1 ? letterValue(rest.slice(1), spec, ...names) : undefined);
};

const suOptions: OptionSpec = { letters: 'flmpPhVc:g:G:s:u:w:', names: ['command=', 'session-command=', 'login', 'preserve-environment', 'shell=', 'group=', 'user=', 'pty'] };
const scriptOptions: OptionSpec = { letters: 'aefqtVhrkdpc:E:I:O:B:T:m:o:F:', names: ['append', 'command=', 'return', 'flush', 'force', 'quiet', 'timing=', 'log-in=', 'log-out=', 'log-io='] };

const codeIf = (field: Field | undefined): readonly Inner[] => (field === undefined ? [] : [code(field)]);

const fromGit = (args: readonly Field[]): readonly Inner[] => {
  const configured = args.flatMap((field, at) => (args[at - 1]?.text === '-c' || args[at - 2]?.text === 'config' || field.text.startsWith('--config-env') ? [field] : []));
  const bang = [...configured, ...args].flatMap((field) => {
    const match = /^(?:[\w.-]+=)?!(.+)$/s.exec(field.text);
    return match === null ? [] : [code({ ...field, text: match[1] ?? '' }, 'posix')];
  });
  const keys = configured.flatMap((field) => {
    const match = /^[\w.-]*(?:command|pager|editor|helper|fsmonitor|hookspath|textconv|driver|program|cmd)=(.+)$/is.exec(field.text);
    return match === null ? [] : [code({ ...field, text: match[1] ?? '' }, 'posix')];
  });
  const words = args.map((field) => field.text);
  if (words.includes('rebase')) return [...bang, ...keys, ...codeIf(valueOf(args, '-x', '--exec'))];
  if (words.includes('bisect') && words.includes('run')) return [...bang, ...keys, ...argv(after(args, 'run'))];
  if (words.includes('foreach')) return [...bang, ...keys, code(joined(after(args, 'foreach')), 'posix')];
  return [...bang, ...keys];
};

const sshOptions: OptionSpec = { letters: '46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:' };

type Unwrap = (call: ShellCall) => readonly Inner[];

const fromEval: Unwrap = (call) => (call.args.length === 0 ? [] : [code(joined(call.args))]);

const fromSource: Unwrap = (call) => {
  const [file] = call.args;
  if (file?.text === '/dev/stdin') return fromInput(call, 'bash');
  return file !== undefined && (file.computed || file.text.startsWith('/dev/fd/')) ? [doubt('computed-code')] : [];
};

const special: Readonly<Record<string, Unwrap>> = {
  eval: fromEval,
  source: fromSource,
  '.': fromSource,
  trap: ({ args: [first, ...signals] }) => (first === undefined || signals.length === 0 || first.text === '-' ? [] : [code(first)]),
  alias: ({ args }) => args.filter(isAssignment).map((field) => code({ ...field, text: field.text.slice(field.text.indexOf('=') + 1) })),
  env: (call) => {
    const split = valueOf(call.args, '-S', '--split-string') ?? call.args.find((field) => /^-[iv0]*S./.test(field.text));
    const args = call.args.filter((field) => field.text !== '-');
    if (split === undefined) return fromWrapper({ ...call, args }, wrappers['env'] ?? {});
    const text = split.text.replace(/^-[iv0]*S/, '');
    const words = text.trim().split(/\s+/).map((word) => ({ ...split, text: word }));
    return [code({ ...split, text }), ...fromWrapper({ ...call, args: [...words, ...call.args.slice(call.args.indexOf(split) + 1)] }, wrappers['env'] ?? {})];
  },
  command: (call) => (call.args.some((field) => /^-p?[vV]/.test(field.text)) ? [] : fromWrapper(call, wrappers['command'] ?? {})),
  su: ({ args }) => codeIf(letterValue(args, suOptions, 'c', 'command', 'session-command')),
  runuser: ({ args }) => [...codeIf(letterValue(args, suOptions, 'c', 'command')), ...argv(after(args, '--'))],
  sg: ({ args }) => codeIf(valueOf(args, '-c') ?? args[1]),
  script: ({ args }) => codeIf(letterValue(args, scriptOptions, 'c', 'command')),
  flock: ({ args }) => (args.some((field) => field.text === '-c' || field.text === '--command') ? codeIf(valueOf(args, '-c', '--command')) : argv(splitOptions(args, { letters: 'enosuxFE:w:', names: ['shared', 'exclusive', 'nonblock', 'unlock', 'close', 'no-fork', 'timeout=', 'conflict-exit-code=', 'verbose'] }).rest.slice(1))),
  watch: (call) => [...fromWrapper(call, wrappers['watch'] ?? {}), code(joined(splitOptions(call.args, wrappers['watch'] ?? {}).rest))],
  find: fromFind,
  fd: ({ args }) => argv(after(args, '-x', '-X', '--exec', '--exec-batch').map((field) => (/\{.*\}/.test(field.text) ? { ...field, computed: true } : field))),
  parallel: ({ args }) => {
    const own = args.slice(0, args.findIndex((field) => field.text.startsWith(':::')) === -1 ? undefined : args.findIndex((field) => field.text.startsWith(':::')));
    const { rest, strange } = splitOptions(own, { letters: '0kmquvXtj:n:I:N:d:C:a:P:', names: ['jobs=', 'keep-order', 'null', 'dry-run', 'colsep=', 'halt=', 'progress', 'bar', 'eta', 'will-cite', 'no-notice'] });
    return [...(strange ? [doubt('unknown-option')] : []), ...(rest.length === 0 ? [] : [code({ ...joined(rest), text: `${joined(rest).text} \0` })])];
  },
  nsenter: ({ args }) => argv(after(args, '--')),
  unshare: ({ args }) => argv(args.slice(Math.max(0, args.findIndex((field) => !field.text.startsWith('-'))))),
  docker: ({ args }) => (args.some((field) => field.text === 'exec') ? argv(splitOptions(after(args, 'exec'), { letters: 'dite:u:w:T', names: ['detach', 'interactive', 'tty', 'privileged', 'env=', 'env-file=', 'user=', 'workdir=', 'detach-keys=', 'index=', 'no-TTY'] }).rest.slice(1)) : []),
  kubectl: ({ args }) => (args.some((field) => field.text === 'exec') ? argv(after(args, '--')) : []),
  ssh: ({ args }) => {
    const [, ...words] = splitOptions(args, sshOptions).rest;
    const proxy = args.find((field) => /ProxyCommand|LocalCommand|KnownHostsCommand/i.test(field.text));
    return [...(words.length === 0 ? [] : [code(joined(words), 'posix')]), ...(proxy === undefined ? [] : [code({ ...proxy, text: proxy.text.replace(/^.*?[= ]/, '') })])];
  },
  git: ({ args }) => fromGit(args),
};

const aliases: Readonly<Record<string, string>> = { podman: 'docker', nerdctl: 'docker', oc: 'kubectl', fdfind: 'fd', gfind: 'find', bfind: 'find', gxargs: 'xargs', gtimeout: 'timeout', genv: 'env', gnice: 'nice' };

/** Interpreters that read a program from their input when they are given none. */
const interpreters = /^(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|tclsh|osascript|rscript)[\d.]*$/;

const fromInterpreter: Unwrap = (call) => {
  const script = call.args.find((field) => !field.text.startsWith('-') || field.text === '-');
  if (script !== undefined && script.text !== '-' && script.text !== '/dev/stdin') return script.computed || script.text.startsWith('/dev/fd/') ? [doubt('computed-code')] : [];
  return call.args.some((field) => /^-(?:-version|-help|[a-zA-Z]*[ceErV])/.test(field.text)) ? [] : fromInput(call, undefined);
};

const fromVariables = (call: ShellCall): readonly Inner[] => call.assignments.flatMap(([name, value]) => (commandVariables.includes(name) ? [code(value, 'posix')] : []));

const fromName = (call: ShellCall): readonly Inner[] => {
  const name = aliases[call.name] ?? call.name;
  const dialect = readableShells[name];
  if (dialect !== undefined) return fromShell(call, dialect);
  if (foreignShells.includes(name)) return call.args.some((field) => /^-[a-z]*c$|^-(?:Command|EncodedCommand|e|enc)$/i.test(field.text)) || call.input.type !== 'inherited' ? [doubt('computed-code')] : [];
  const unwrap = special[name];
  if (unwrap !== undefined) return unwrap(call);
  const wrapper = wrappers[name];
  if (wrapper !== undefined) return fromWrapper(call, wrapper);
  return interpreters.test(name) ? fromInterpreter(call) : [];
};

/** Every command and every piece of code that this command runs in turn. */
export const innerOf = (call: ShellCall): readonly Inner[] => [...fromVariables(call), ...fromName(call)];
