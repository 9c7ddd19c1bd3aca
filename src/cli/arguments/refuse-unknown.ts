import type { Command } from 'commander';
import { nearest } from '../../config/settings/nearest.ts';

const pathOf = (command: Command): string => (command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`);

/** For a command that also runs when none is named, and takes no words: one that it was given is a mistyped name. */
export const refuseUnknown = (command: Command, names: readonly string[]): void => {
  const [word] = command.args;
  if (word === undefined) return;
  if (command.parent?.args[0] === command.name()) command.error(`error: '${command.name()}' takes no arguments, and got '${word}'`);
  const meant = nearest(word, names);
  command.error(`error: unknown command '${word}'\n(${meant === undefined ? `${pathOf(command.parent ?? command)} --help lists all of them.` : `Did you mean ${meant}?`})`);
};
