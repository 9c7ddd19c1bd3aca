import type { Command } from './contract.ts';

/** A command as lists show it. */
export const commandLine = (command: Command): string => `/${command.name}${command.args === undefined ? '' : ` ${command.args}`} — ${command.description}`;
