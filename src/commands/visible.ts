import type { CommandAccess } from '../access/command-access.ts';
import type { Surface } from '../platforms/contract.ts';
import type { Command } from './contract.ts';
import type { CommandSettings } from './settings.ts';

export interface Viewpoint {
  readonly surface: Surface;
  readonly settings: CommandSettings;
}

/** Whether there is such a command at that kind of place at all. */
export const existsAt = (command: Command, { surface, settings }: Viewpoint): boolean =>
  (command.surfaces?.includes(surface) ?? true) && (command.gate?.isOpen(settings, surface) ?? true);

/** What somebody can make use of, for lists and for names that are only begun. */
export const usableCommands = (from: Viewpoint & { readonly commands: readonly Command[]; readonly access: CommandAccess }): readonly Command[] =>
  from.commands.filter((command) => existsAt(command, from) && from.access.mayRun(command));
