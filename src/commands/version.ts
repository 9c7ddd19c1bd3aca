import type { Command } from './contract.ts';

export const version: Command = {
  name: 'version',
  aliases: [],
  category: 'Info',
  description: 'Show which version this is',
  whileRunning: 'allowed',
  run: (_tx, call) => Promise.resolve(`Hermes gateway ${call.version}`),
};
