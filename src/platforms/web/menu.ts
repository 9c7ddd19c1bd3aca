import type { AccountData, CommandMenu } from '../contract.ts';
import type { ChatsAnswer } from './wire.ts';

const key = 'menu';

/** Commands that the page offers while a slash is typed. */
export const newMenu = (data: AccountData): CommandMenu => ({
  publish: (commands) => data.set(key, JSON.stringify(commands.map(({ name, description }) => ({ name, description })))),
});

export const readMenu = async (data: AccountData): Promise<ChatsAnswer['commands']> => {
  const value = await data.get(key);
  return value === undefined ? [] : (JSON.parse(value) as ChatsAnswer['commands']);
};
