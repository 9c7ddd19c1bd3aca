import type { Platform } from '../contract.ts';
import { measureDiscord } from './format.ts';
import { discordOptions } from './options.ts';
import type { DiscordOptions } from './options.ts';
import { clientSplitsAt } from './client-splits.ts';

export const discord: Platform<DiscordOptions> = {
  name: 'discord',
  label: 'Discord',
  options: discordOptions,
  limits: { text: 2000, measure: measureDiscord, clientSplitsAt, mostParts: 8, editIntervalMs: 1200 },
  display: { tier: 'high' },
  hints:
    'You are writing in Discord. Headings, bold, italic, strikethrough, spoilers, links, lists, inline code, code blocks and quotes are shown; tables are not, so write them as short lists. ' +
    'People are mentioned as <@id> and channels as <#id>. A message has at most 2000 characters.',
  // Heartbeats are answered every 41 seconds.
  silenceMs: 130_000,
  asyncDelivery: true,
  authenticatesSenders: false,
  alwaysOn: false,
  credential: ({ token }) => token,
  async open(context) {
    // What an account that is not configured would not need is loaded here.
    const { open } = await import('./adapter.ts');
    return open(context);
  },
  simulate: async () => (await import('./simulator.ts')).startDiscordSimulator(),
  exceptions: {},
};
