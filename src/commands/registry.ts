import { branch } from './branch.ts';
import { busy } from './busy.ts';
import type { Command } from './contract.ts';
import { helpCommand } from './help.ts';
import { newConversation } from './new.ts';
import { pair } from './pair.ts';
import { queue } from './queue.ts';
import { resume } from './resume.ts';
import { retry } from './retry.ts';
import { start } from './start.ts';
import { status } from './status.ts';
import { stop } from './stop.ts';
import { title } from './title.ts';
import { undo } from './undo.ts';
import { usage } from './usage.ts';
import { version } from './version.ts';
import { whoami } from './whoami.ts';

export const commands: readonly Command[] = [newConversation, stop, status, queue, retry, undo, title, branch, resume, busy, pair, helpCommand(() => commands), start, usage, whoami, version];

export type Resolved =
  | { readonly type: 'command'; readonly command: Command }
  | { readonly type: 'ambiguous'; readonly candidates: readonly Command[] }
  | { readonly type: 'unknown' };

/** Exact names and aliases first, then the start of a name if only one fits. */
export const resolveCommand = (name: string): Resolved => {
  const exact = commands.find((command) => command.name === name || command.aliases.includes(name));
  if (exact !== undefined) return { type: 'command', command: exact };
  const candidates = commands.filter((command) => [command.name, ...command.aliases].some((known) => known.startsWith(name)));
  const [only, ...others] = candidates;
  if (only === undefined) return { type: 'unknown' };
  return others.length === 0 ? { type: 'command', command: only } : { type: 'ambiguous', candidates };
};
