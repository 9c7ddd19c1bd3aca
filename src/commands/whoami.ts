import type { Command } from './contract.ts';

export const whoami: Command = {
  name: 'whoami',
  aliases: [],
  category: 'Info',
  description: 'Show who you are to me',
  role: 'guest',
  whileRunning: 'allowed',
  run: (_tx, call) => {
    const { sender, chat, account } = call.event;
    return Promise.resolve([`**You** \`${sender.id}\`${sender.name === undefined ? '' : ` ${sender.name}`}`, `**Role** ${call.access.role}`, `**Account** ${account}`, `**Chat** \`${chat.id}\` (${chat.type})${chat.threadId === undefined ? '' : `, thread \`${chat.threadId}\``}`].join('\n'));
  },
};
