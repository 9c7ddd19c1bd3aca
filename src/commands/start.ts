import type { Command } from './contract.ts';

export const start: Command = {
  name: 'start',
  aliases: [],
  category: 'Info',
  description: 'Say hello',
  surfaces: ['chat', 'page'],
  whileRunning: 'allowed',
  run: () => Promise.resolve('👋 Hello. Write to me as you would to a person. /help shows what I can do besides.'),
};
