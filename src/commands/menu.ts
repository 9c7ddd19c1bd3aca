import type { Surface } from '../platforms/contract.ts';
import { allCommands } from './registry.ts';
import type { CommandSettings } from './settings.ts';
import { existsAt } from './visible.ts';

/** What a platform's menu offers, the most used first. Who may run what is decided when it is given. */
export const menuOf = (settings: CommandSettings, surface: Surface): readonly { readonly name: string; readonly description: string }[] =>
  allCommands(settings)
    .filter((command) => existsAt(command, { surface, settings }))
    .map(({ name, description }) => ({ name, description }));
