import { hasOption, hasWord, isGiven } from './rule.ts';
import type { Reach, Rule } from './rule.ts';
import type { Doubt, ShellCall } from './shell/call.ts';

/** Options that may stand before a script: what comes behind it is the script's. */
const interpreterOptions = {
  python: { letters: 'bBdEhiIOPqRsStuvVx?c:m:W:X:', names: ['help', 'version', 'check-hash-based-pycs='] },
  perl: { letters: 'acfghnpsStTuUvwWXe:E:F:I:M:m:d::D::i::l::0::x::C::V::' },
  ruby: { letters: 'aclnpsSuvwyhe:C:E:F:I:K:r:i::T::W::x::0::', names: ['version', 'help', 'jit', 'yjit', 'enable=', 'disable='] },
  node: { letters: 'chivpe:r:C:', names: ['eval=', 'print=', 'require=', 'import=', 'check', 'version', 'help', 'test', 'watch', 'inspect', 'inspect-brk', 'env-file=', 'max-old-space-size=', 'experimental-strip-types', 'enable-source-maps', 'no-warnings', 'trace-warnings'] },
  php: { letters: 'aCehHilmnqswvr:B:R:F:E:S:t:c:d:f:z:', names: ['run=', 'version', 'help', 'ini', 'server='] },
} as const;

const program = (call: ShellCall): string => call.args.map((field) => field.text).join('\n');

/** `e`, or a substitution with the flag `e`. A script too long to look through is taken for one that does. */
const startsFromSed = (script: string): boolean => script.length > 2000 || /(?:^|[;{}\n\d$])\s*e(?:\s|$)|s(.).*\1.*\1[gipmI\d]*e/.test(script);

/** Programs that are given code on their line, or made to start others, in languages that are not read here. */
export const codeRules: readonly Rule[] = [
  { pattern: 'python -c', reason: 'runs code that stands on the command line', names: ['python*', 'pypy*', 'ipython*'], when: (call) => isGiven(call, interpreterOptions.python, 'c') },
  { pattern: 'perl -e', reason: 'runs code that stands on the command line', names: ['perl*'], when: (call) => isGiven(call, interpreterOptions.perl, 'eE') },
  { pattern: 'ruby -e', reason: 'runs code that stands on the command line', names: ['ruby*'], when: (call) => isGiven(call, interpreterOptions.ruby, 'e') },
  { pattern: 'node -e', reason: 'runs code that stands on the command line', names: ['node', 'nodejs', 'bun', 'tsx', 'ts-node'], when: (call) => isGiven(call, interpreterOptions.node, 'ep', 'eval', 'print') },
  { pattern: 'deno eval', reason: 'runs code that stands on the command line', names: ['deno'], when: (call) => hasWord(call, 'eval') },
  { pattern: 'php -r', reason: 'runs code that stands on the command line', names: ['php*'], when: (call) => isGiven(call, interpreterOptions.php, 'rBRE', 'run') },
  { pattern: 'lua -e', reason: 'runs code that stands on the command line', names: ['lua*', 'rscript', 'julia', 'ghc', 'elixir', 'erl', 'guile', 'scala', 'groovy', 'jshell'], when: (call) => hasOption(call, 'e', 'eval') },
  { pattern: 'osascript', reason: 'controls other programs', names: ['osascript', 'automator', 'xdotool', 'ydotool'] },
  { pattern: 'awk system', reason: 'starts programs from awk', names: ['awk', 'gawk', 'mawk', 'nawk'], when: (call) => /\bsystem\s*\(|\|\s*(?:getline|&|")|"\s*\||>\s*"|@load|\/inet\//.test(program(call)) },
  { pattern: 'sed execute', reason: 'starts programs from sed', names: ['sed', 'gsed'], when: (call) => call.args.some((field) => !field.text.startsWith('-') && startsFromSed(field.text)) },
  { pattern: 'tar execute', reason: 'starts programs from tar', names: ['tar', 'gtar', 'bsdtar'], when: (call) => call.args.some((field) => /^--(?:to-command|checkpoint-action|use-compress-program|rsh-command|info-script|new-volume-script)/.test(field.text)) || hasOption(call, 'IF') },
  { pattern: 'rsync -e', reason: 'starts a program of its own choice', names: ['rsync'], when: (call) => call.args.some((field, at) => (field.text === '-e' || field.text.startsWith('--rsh')) && !/^ssh\b/.test(call.args[at + 1]?.text ?? field.text.replace(/^--rsh=/, ''))) },
  { pattern: 'editor command', reason: 'starts programs from an editor or debugger', names: ['vim', 'vi', 'nvim', 'ex', 'ed', 'emacs', 'gdb', 'lldb'], when: (call) => hasOption(call, 'c', 'cmd', 'eval', 'batch', 'ex', 'eval-command') || call.args.some((field) => field.text.startsWith('+') || field.text.startsWith('-ex')) || call.input.type !== 'inherited' },
  { pattern: 'reverse shell', reason: 'connects a shell to the network', names: ['nc', 'ncat', 'netcat', 'socat'], when: (call) => hasOption(call, 'ec', 'exec', 'sh-exec') || /\b(?:exec|system|shell):/i.test(program(call)) },
  { pattern: 'network from the shell', reason: 'opens a connection from the shell itself', names: ['*'], when: (call) => call.redirections.some(({ path }) => /^\/dev\/(?:tcp|udp)\//.test(path.text)) },
  { pattern: 'preload', reason: 'changes how programs are loaded or what they run first', names: ['*'], when: (call) => [...call.assignments.map(([name]) => name), ...(/^(?:export|declare|typeset|env)$/.test(call.name) ? call.args.map((field) => field.text.split('=', 1)[0] ?? '') : [])].some((name) => /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|ENV|PROMPT_COMMAND|PYTHONSTARTUP|PERL5OPT|RUBYOPT|IFS|BASHOPTS|SHELLOPTS|BASH_FUNC_.*)$/.test(name)) },
  { pattern: 'generated makefile', reason: 'runs rules that are put together while it runs', names: ['make', 'gmake', 'just', 'ninja'], when: (call) => call.args.some((field) => field.text === '-' || field.text.startsWith('/dev/')) },
  { pattern: 'shell internals', reason: 'changes what names mean to the shell', names: ['enable', 'hash', 'mapfile', 'readarray', 'complete', 'bind'], when: (call) => hasOption(call, call.name === 'enable' ? 'f' : call.name === 'hash' ? 'p' : call.name === 'bind' ? 'x' : 'C') },
  { pattern: 'strange name', reason: 'runs a program whose name has unusual characters', names: ['*'], when: (call) => /[^\u0020-\u007e\0]/.test(call.command.text) },
];

interface DoubtRule {
  readonly pattern: string;
  readonly reason: string;
  /** What nobody can see beforehand is not approved beforehand either. */
  readonly widest: Reach;
}

/** What a person is told when it cannot be known what a command does. */
export const doubtRules: Readonly<Record<Doubt, DoubtRule>> = {
  syntax: { pattern: 'unreadable', reason: 'cannot be read, so nobody knows what it does', widest: 'once' },
  'computed-command': { pattern: 'computed command', reason: 'decides only while it runs which program to start', widest: 'once' },
  'computed-code': { pattern: 'computed code', reason: 'runs code that is put together while it runs', widest: 'once' },
  'piped-code': { pattern: 'piped code', reason: 'runs code that it gets from another program or a file', widest: 'once' },
  'network-code': { pattern: 'curl | sh', reason: 'runs code that it gets from the network', widest: 'once' },
  'stored-code': { pattern: 'stored code', reason: 'keeps code in a variable', widest: 'session' },
  'unknown-option': { pattern: 'unknown option', reason: 'starts another program in a way that is not understood', widest: 'once' },
  'too-large': { pattern: 'too large', reason: 'is too long or too deeply nested to be checked', widest: 'once' },
};
