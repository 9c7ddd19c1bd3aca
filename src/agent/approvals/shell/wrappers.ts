import type { OptionSpec } from './split-options.ts';

/** A program whose arguments are another command. */
export interface Wrapper extends OptionSpec {
  /** Words between its options and the command. */
  readonly operands?: number;
  /** `NAME=value` may stand before the command. */
  readonly assignments?: boolean;
  /** It adds words of its own to the command. */
  readonly appends?: boolean;
}

/** Programs that run the rest of their line. An option that is not listed makes the whole command doubtful. */
export const wrappers: Readonly<Record<string, Wrapper>> = {
  sudo: {
    letters: 'ABbEeHiKklnPSsVvC:D:g:h:p:R:r:T:t:U:u:',
    names: ['askpass', 'background', 'preserve-env', 'edit', 'set-home', 'login', 'remove-timestamp', 'reset-timestamp', 'list', 'non-interactive', 'preserve-groups', 'stdin', 'shell', 'version', 'validate', 'close-from=', 'chdir=', 'group=', 'host=', 'prompt=', 'chroot=', 'role=', 'command-timeout=', 'type=', 'other-user=', 'user='],
    assignments: true,
  },
  doas: { letters: 'Lnsa:C:u:' },
  pkexec: { names: ['user=', 'disable-internal-agent', 'keep-cwd'] },
  gosu: { operands: 1 },
  'su-exec': { operands: 1 },
  env: { letters: 'i0vu:C:', names: ['ignore-environment', 'null', 'unset=', 'chdir=', 'debug', 'default-signal', 'ignore-signal', 'block-signal'], assignments: true },
  nice: { letters: '0123456789n:', names: ['adjustment='] },
  ionice: { letters: 'tc:n:', names: ['class=', 'classdata=', 'ignore'] },
  chrt: { letters: 'abdfiormRvT:P:D:', operands: 1 },
  taskset: { letters: 'ac', names: ['all-tasks', 'cpu-list'], operands: 1 },
  timeout: { letters: 'vfk:s:', names: ['foreground', 'preserve-status', 'verbose', 'kill-after=', 'signal='], operands: 1 },
  nohup: {},
  setsid: { letters: 'cfw', names: ['ctty', 'fork', 'wait'] },
  stdbuf: { letters: 'i:o:e:', names: ['input=', 'output=', 'error='] },
  unbuffer: { letters: 'p' },
  time: { letters: 'apqvf:o:', names: ['append', 'portability', 'quiet', 'verbose', 'format=', 'output='] },
  command: { letters: 'p' },
  builtin: {},
  exec: { letters: 'cla:' },
  busybox: {},
  toybox: {},
  xargs: {
    letters: '0oprtxa:d:E:I:J:L:n:P:R:S:s:e::i::l::',
    names: ['null', 'open-tty', 'interactive', 'no-run-if-empty', 'verbose', 'exit', 'arg-file=', 'delimiter=', 'eof', 'replace', 'max-lines', 'max-args=', 'max-procs=', 'max-chars=', 'process-slot-var=', 'show-limits'],
    appends: true,
  },
  watch: { letters: 'bcdegprtwxn:q:', names: ['beep', 'color', 'differences', 'errexit', 'chgexit', 'precise', 'no-rerun', 'no-title', 'no-wrap', 'exec', 'interval=', 'equexit='] },
  strace: { letters: 'cCdDfFhiknqrtTvVwxyYzZa:b:e:E:I:o:O:p:P:s:S:u:U:X:' },
  ltrace: { letters: 'bcCfhirStTVa:A:D:e:F:l:n:o:p:s:u:w:x:' },
  fakeroot: { letters: 'uhvl:s:i:b:', names: ['lib=', 'faked=', 'unknown-is-real'] },
  chroot: { names: ['userspec=', 'groups=', 'skip-chdir'], operands: 1 },
  setpriv: { names: ['reuid=', 'regid=', 'clear-groups', 'keep-groups', 'init-groups', 'no-new-privs', 'inh-caps=', 'ambient-caps=', 'bounding-set=', 'reset-env', 'groups='] },
  caffeinate: { letters: 'dimsut:w:' },
  torsocks: {},
  proxychains: { letters: 'qf:' },
  proxychains4: { letters: 'qf:' },
  rlwrap: {},
  catchsegv: {},
  'dbus-run-session': {},
  'systemd-inhibit': { names: ['what=', 'who=', 'why=', 'mode='] },
  'systemd-run': { letters: 'dGPqrtSu:p:M:E:', names: ['user', 'system', 'scope', 'pty', 'pipe', 'wait', 'collect', 'quiet', 'shell', 'unit=', 'property=', 'setenv=', 'uid=', 'gid=', 'on-active=', 'on-calendar=', 'description=', 'slice=', 'same-dir'] },
};

/** Shells whose language we can read. */
export const readableShells: Readonly<Record<string, 'bash' | 'posix'>> = { bash: 'bash', rbash: 'bash', sh: 'posix', dash: 'posix', ash: 'posix', ksh: 'posix', mksh: 'posix', hush: 'posix' };

/** Shells whose language we cannot read. */
export const foreignShells: readonly string[] = ['zsh', 'fish', 'csh', 'tcsh', 'pwsh', 'powershell', 'nu', 'elvish', 'xonsh', 'cmd'];

/** Variables whose value some program runs as a command. */
export const commandVariables: readonly string[] = [
  'EDITOR', 'VISUAL', 'PAGER', 'MANPAGER', 'BROWSER', 'PROMPT_COMMAND', 'LESSOPEN', 'LESSCLOSE', 'RSYNC_RSH', 'SSH_ASKPASS', 'SUDO_ASKPASS', 'FCEDIT',
  'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EDITOR', 'GIT_SEQUENCE_EDITOR', 'GIT_PAGER', 'GIT_ASKPASS', 'GIT_EXTERNAL_DIFF', 'GIT_PROXY_COMMAND', 'CC', 'CXX', 'SHELL', 'MAKEFLAGS',
];
