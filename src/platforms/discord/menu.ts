import type { CommandMenu } from '../contract.ts';
import { clampEntries, menuName } from '../menu-names.ts';
import { madeId } from './api.ts';
import type { DiscordApi } from './api.ts';
import { list, record } from './wire.ts';

const mostCommands = 100;
const longestDescription = 100;
const stringOption = 3;

type Commands = Parameters<CommandMenu['publish']>[0];

/** Commands as Discord's menu shows them; whatever is written behind one comes as a single text. */
export const menuCommands = (commands: Commands): readonly { readonly name: string; readonly description: string }[] =>
  clampEntries(commands.map((command) => ({ ...command, name: menuName(command.name) })))
    .slice(0, mostCommands)
    .map(({ name, description }) => ({ name, description: description.toWellFormed().slice(0, longestDescription).toWellFormed() || name }));

const argument = { type: stringOption, name: 'text', description: 'What to say to it', required: false };

const described = (value: unknown): string => {
  const command = record(value);
  return JSON.stringify([command?.['name'], command?.['description'], list(command?.['options']).length]);
};

/** Published only when something has changed: Discord counts how often a bot does that. */
export const newMenu = (api: DiscordApi): CommandMenu => ({
  async publish(commands, signal) {
    const application = madeId(await api.call({ method: 'GET', route: '/applications/@me' }, signal));
    const route = '/applications/{application}/commands';
    const wanted = menuCommands(commands).map((command) => ({ ...command, type: 1, options: [argument] }));
    const there = list(await api.call({ method: 'GET', route, ids: { application } }, signal));
    const same = there.length === wanted.length && new Set([...there, ...wanted].map(described)).size === wanted.length;
    if (!same) await api.call({ method: 'PUT', route, ids: { application }, body: wanted }, signal);
  },
});
