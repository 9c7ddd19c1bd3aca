import type { ShellCall } from '../../approvals/shell/call.ts';

/** Codes that are no failure, or whose meaning one has to look up. */
const byProgram: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  grep: { 1: 'no line matched (not an error)' },
  egrep: { 1: 'no line matched (not an error)' },
  fgrep: { 1: 'no line matched (not an error)' },
  rg: { 1: 'no line matched (not an error)' },
  ag: { 1: 'no line matched (not an error)' },
  diff: { 1: 'the files differ (not an error)' },
  cmp: { 1: 'the files differ (not an error)' },
  colordiff: { 1: 'the files differ (not an error)' },
  test: { 1: 'the condition is false (not an error)' },
  '[': { 1: 'the condition is false (not an error)' },
  pgrep: { 1: 'no process matched (not an error)' },
  pidof: { 1: 'no process matched (not an error)' },
  which: { 1: 'no such program in PATH' },
  command: { 1: 'no such program in PATH' },
  find: { 1: 'some folders could not be read' },
  git: { 128: 'git could not do it; its message says why' },
  curl: { 6: 'the host could not be resolved', 7: 'the host refused the connection', 22: 'the server answered with an HTTP error', 23: 'the output could not be written', 28: 'it took too long', 35: 'the TLS handshake failed', 47: 'too many redirects', 52: 'the server answered nothing', 56: 'the connection broke', 60: 'the certificate is not trusted' },
  wget: { 4: 'the network failed', 5: 'the certificate is not trusted', 8: 'the server answered with an error' },
  ssh: { 255: 'the connection failed' },
  rsync: { 23: 'some files could not be transferred', 24: 'some files vanished meanwhile' },
  pytest: { 1: 'some tests failed', 5: 'no tests were found' },
};

const everywhere: Readonly<Record<number, string>> = {
  124: 'it took too long and was ended',
  126: 'the file cannot be executed',
  127: 'no such command',
  130: 'it was interrupted',
  134: 'it crashed (abort)',
  137: 'it was killed, perhaps for want of memory',
  139: 'it crashed (segmentation fault)',
  141: 'the reader of its output went away (usually harmless)',
  143: 'it was ended',
};

/** What an exit code says, where that is not plain. `calls` are those of the command in order. */
export const exitMeaning = (code: number, calls: readonly ShellCall[]): string | undefined => {
  const last = calls.findLast((call) => call.name !== '');
  return (last === undefined ? undefined : byProgram[last.name]?.[code]) ?? everywhere[code];
};
