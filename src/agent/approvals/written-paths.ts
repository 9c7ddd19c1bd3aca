import type { Field, ShellCall } from './shell/call.ts';
import { hasOption, operands, pathOf } from './rule.ts';
import type { CommandFacts } from './rule.ts';

interface Writer {
  /** Which of its operands it changes. */
  readonly operands?: 'all' | 'last' | 'behind-first' | 'first';
  /** Options whose value it changes. */
  readonly options?: readonly string[];
  readonly only?: (call: ShellCall) => boolean;
}

/** Programs that change files, and which of their arguments name them. */
const writers: Readonly<Record<string, Writer>> = {
  cp: { operands: 'last', options: ['-t', '--target-directory'] },
  mv: { operands: 'all', options: ['-t', '--target-directory'] },
  install: { operands: 'all', options: ['-t', '--target-directory'] },
  ln: { operands: 'last', options: ['-t', '--target-directory'] },
  rsync: { operands: 'last' },
  scp: { operands: 'last' },
  tee: { operands: 'all' },
  sponge: { operands: 'all' },
  touch: { operands: 'all' },
  mkdir: { operands: 'all' },
  rmdir: { operands: 'all' },
  rm: { operands: 'all' },
  unlink: { operands: 'all' },
  shred: { operands: 'all' },
  truncate: { operands: 'all' },
  mkfifo: { operands: 'all' },
  mknod: { operands: 'first' },
  chmod: { operands: 'behind-first' },
  chown: { operands: 'behind-first' },
  chgrp: { operands: 'behind-first' },
  chattr: { operands: 'behind-first' },
  setfacl: { operands: 'behind-first' },
  sed: { operands: 'all', only: (call) => hasOption(call, 'i', 'in-place') },
  perl: { operands: 'all', only: (call) => hasOption(call, 'i') },
  patch: { operands: 'first', options: ['-o', '--output'] },
  ed: { operands: 'all' },
  ex: { operands: 'all' },
  vi: { operands: 'all' },
  vim: { operands: 'all' },
  nano: { operands: 'all' },
  curl: { options: ['-o', '--output', '--output-dir'] },
  wget: { options: ['-O', '--output-document', '-P', '--directory-prefix'] },
  sort: { options: ['-o', '--output'] },
  tar: { options: ['-C', '--directory'], only: (call) => hasOption(call, 'x', 'extract', 'get') || /^[a-z]*x/.test(call.args[0]?.text ?? '') },
  unzip: { options: ['-d'] },
  gpg: { options: ['-o', '--output'] },
  openssl: { options: ['-out', '-keyout'] },
  'ssh-keygen': { options: ['-f'] },
  split: { operands: 'last' },
};

const chosen = (call: ShellCall, which: Writer['operands']): readonly Field[] => {
  const all = operands(call);
  switch (which) {
    case undefined:
      return [];
    case 'all':
      return all;
    case 'first':
      return all.slice(0, 1);
    case 'last':
      return all.length > 1 ? all.slice(-1) : [];
    case 'behind-first':
      return all.slice(1);
    default:
      throw which satisfies never;
  }
};

const optionValues = (call: ShellCall, options: readonly string[]): readonly Field[] =>
  call.args.flatMap((field, at) => {
    const before = call.args[at - 1]?.text ?? '';
    if (options.includes(before) || (/^-[a-zA-Z]+$/.test(before) && options.some((option) => option.length === 2 && before.endsWith(option.slice(1))))) return [field];
    const glued = options.find((option) => (option.startsWith('--') ? field.text.startsWith(`${option}=`) : option.length === 2 && field.text.startsWith(option) && field.text.length > 2));
    return glued === undefined ? [] : [{ ...field, text: field.text.slice(glued.length + (glued.startsWith('--') ? 1 : 0)) }];
  });

const writtenFields = (call: ShellCall): readonly Field[] => {
  const redirected = call.redirections.filter(({ kind }) => kind === 'write').map(({ path }) => path);
  const disk = call.name === 'dd' ? call.args.filter((field) => field.text.startsWith('of=')).map((field) => ({ ...field, text: field.text.slice(3) })) : [];
  const writer = writers[call.name.replace(/^g(?=(?:cp|mv|install|ln|tee|touch|mkdir|rmdir|rm|shred|truncate|chmod|chown|sed|tar|sort)$)/, '')];
  if (writer === undefined || writer.only?.(call) === false) return [...redirected, ...disk];
  return [...redirected, ...chosen(call, writer.operands), ...optionValues(call, writer.options ?? [])];
};

/** The paths that a command would create, change or remove. */
export const writtenPaths = (call: ShellCall, facts: CommandFacts): readonly string[] => writtenFields(call).map((field) => pathOf(field, call, facts));
