import type { CommandMenu } from '../contract.ts';
import { clampEntries, menuName, orderMenu } from '../menu-names.ts';
import type { TelegramApi } from './api.ts';
import type { TelegramOptions } from './options.ts';

const maxDescription = 256;

type Commands = Parameters<CommandMenu['publish']>[0];

/** What Telegram shows: names as it allows them, in the order the owner wants. */
export const menuCommands = (commands: Commands, order: TelegramOptions['command_menu']): readonly { command: string; description: string }[] => {
  const named = commands.map((command) => ({ ...command, name: menuName(command.name) }));
  return orderMenu(clampEntries(named), order).map(({ name, description }) => ({ command: name, description: description.toWellFormed().slice(0, maxDescription).toWellFormed() || name }));
};

export const newMenu = (api: TelegramApi, order: TelegramOptions['command_menu']): CommandMenu => ({
  async publish(commands, signal) {
    await api.repeatable('account', signal, (raw, s) => raw.setMyCommands({ commands: menuCommands(commands, order) }, s));
  },
});
