import { posix } from 'node:path';
import { endsInOrder } from './gateway-rules.ts';
import { pathsIn } from './rule.ts';
import type { CommandFacts, OtherAgents } from './rule.ts';
import { unknown } from './shell/call.ts';
import type { Field, ShellCall } from './shell/call.ts';
import { walkedFolders } from './walked-folders.ts';

const segments = (path: string): readonly string[] => path.toLowerCase().split('/').filter((part) => part !== '');

/** What a shell would fill in, or what is only known when it runs, may be anything within one name. */
const mayBe = (written: string, name: string): boolean => {
  if (!/[*?[]/.test(written) && !written.includes(unknown)) return written === name;
  const parts = written.split(/\[[^\]]*\]|[*?]|\0/);
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join('.*')}$`).test(name);
};

/** Whether a path, wildcards and all, may lead to a folder or below it. */
const leadsInto = (path: string, folder: string): boolean => {
  const [way, end] = [segments(path), segments(folder)];
  return way.length >= end.length && end.every((name, at) => mayBe(way[at] ?? '', name));
};

const isClosed = (path: string, { folders, open }: OtherAgents): boolean => folders.some((folder) => leadsInto(path, folder)) && !open.some((folder) => isPlainlyIn(path, folder));

const isPlainlyIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** All ways to write a folder that need no shell to be understood, such as inside a script. */
const spellings = (folder: string, home: string): readonly string[] => {
  const rest = isPlainlyIn(folder, home) ? folder.slice(home.length) : undefined;
  return rest === undefined ? [folder] : [folder, `~${rest}`, `$HOME${rest}`, `\${HOME}${rest}`];
};

const names = (text: string, home: string, { folders, open }: OtherAgents): boolean => {
  const opened = open.flatMap((folder) => spellings(folder, home));
  const startsWith = (at: number, folder: string): boolean => text.startsWith(folder, at) && !/[\w.-]/.test(text[at + folder.length] ?? '');
  return folders.flatMap((folder) => spellings(folder, home)).some((folder) => {
    for (let at = text.indexOf(folder); at !== -1; at = text.indexOf(folder, at + 1)) if (startsWith(at, folder) && !opened.some((other) => startsWith(at, other))) return true;
    return false;
  });
};

const fieldsOf = (call: ShellCall): readonly Field[] => [call.command, ...call.args, ...call.redirections.map(({ path }) => path), ...call.assignments.map(([, value]) => value)];

/** Commands of ours that tell nothing about conversations. */
const harmlessVerbs: readonly string[] = ['status', 'version', 'help', 'doctor', 'completion', '--version', '-v', '--help', '-h'];

const ownProgram = /(?:^|\/)hermes(?:-gateway|\.js)?(?:@.*)?$|hermes[^/]*\/src\/cli\/main\.ts$/i;

/** `hermes sessions export …`, however the program is started: it reads what all agents have said. */
const asksGateway = (call: ShellCall): boolean => {
  const words = [call.command, ...call.args].map((field) => field.text);
  const own = words.findIndex((word) => ownProgram.test(word));
  if (own === -1 || (own > 0 && !['node', 'npx', 'bunx', 'bun', 'deno'].includes(call.name))) return false;
  const [verb = '', next = ''] = words.slice(own + 1);
  return !harmlessVerbs.includes(verb.toLowerCase()) && !(verb === 'gateway' && next === 'status') && !endsInOrder(call);
};

/** Whether a command reaches for what belongs to another agent of the gateway: its folder, its conversations. */
export const reachesOthers = (command: string, calls: readonly ShellCall[], facts: CommandFacts): boolean => {
  const { others, home } = facts;
  if (others === undefined) return false;
  if (names(command, home, others)) return true;
  return calls.some((call) => (call.cwd !== undefined && isClosed(call.cwd, others)) || asksGateway(call) || fieldsOf(call).some((field) => pathsIn(field, call, facts).some((path) => isClosed(path, others))));
};

/** Whether a command goes through a folder in which folders of other agents lie. */
export const walksOverOthers = (calls: readonly ShellCall[], facts: CommandFacts): boolean => {
  const { others } = facts;
  if (others === undefined) return false;
  const holdsOthers = (path: string): boolean => others.folders.some((folder) => leadsInto(folder, path.replace(/(?<=.)\/+$/, '')) || (posix.basename(path) === '*' && leadsInto(folder, posix.dirname(path))));
  return calls.some((call) => walkedFolders(call, facts).some(holdsOthers));
};
