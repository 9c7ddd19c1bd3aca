import type { CommandMenu } from '../contract.ts';
import type { TelegramApi } from './api.ts';

const maxCommands = 100;
const maxName = 32;
const maxDescription = 256;

type Commands = Parameters<CommandMenu['publish']>[0];

/** Names as Telegram allows them: lower case, `_` for `-`, at most 32 letters; of two that become the same the first stays. */
export const menuCommands = (commands: Commands): readonly { command: string; description: string }[] => {
  const menu = new Map<string, string>();
  for (const { name, description } of commands) {
    const command = name.toLowerCase().replaceAll('-', '_').replace(/[^a-z0-9_]/g, '').slice(0, maxName);
    if (command !== '' && !menu.has(command)) menu.set(command, description.toWellFormed().slice(0, maxDescription).toWellFormed() || command);
  }
  return [...menu].slice(0, maxCommands).map(([command, description]) => ({ command, description }));
};

export const newMenu = (api: TelegramApi): CommandMenu => ({
  async publish(commands, signal) {
    await api.repeatable('account', signal, (raw, s) => raw.setMyCommands({ commands: menuCommands(commands) }, s));
  },
});
