import { hasOption, operands, pathOf } from './rule.ts';
import type { CommandFacts } from './rule.ts';
import type { ShellCall } from './shell/call.ts';

/** Programs that go through everything below a folder, and the options with which they do. */
const walkers: Readonly<Record<string, string | undefined>> = { grep: 'rR', egrep: 'rR', fgrep: 'rR', cp: 'rRa', scp: 'r', ls: 'R', rg: undefined, ag: undefined, ack: undefined, rsync: undefined, tar: undefined, zip: undefined, find: undefined, fd: undefined, fdfind: undefined, tree: undefined, '7z': undefined, restic: undefined, borg: undefined };

/** They show names only, unless they start something. */
const listers: readonly string[] = ['ls', 'tree', 'find', 'fd', 'fdfind'];

const walks = (call: ShellCall): boolean => {
  if (!Object.hasOwn(walkers, call.name)) return false;
  const letters = walkers[call.name];
  return letters === undefined || hasOption(call, letters, 'recursive', 'archive');
};

/** The folders that a command goes through with everything in them; none for most. */
export const walkedFolders = (call: ShellCall, facts: CommandFacts): readonly string[] => {
  if (!walks(call)) return [];
  const named = operands(call);
  return [...named.map((field) => pathOf(field, call, facts)), ...(call.cwd === undefined || named.length > 1 ? [] : [call.cwd])];
};

/** Whether a command that walks also opens what it finds. */
export const opensWhatItWalks = (call: ShellCall): boolean => !listers.includes(call.name) || call.args.some(({ text }) => /^-{1,2}(?:exec|ok|x$|X$)/.test(text));
