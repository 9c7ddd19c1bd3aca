import { systemClock } from '../../lib/clock.ts';
import type { Adapter, AdapterContext, Platform } from '../contract.ts';
import { forgetProgress } from '../progress.ts';
import { openApi } from './api.ts';
import { identify, newDirectory, newEdits, newMenu, newReactions, newThreads, newTyping } from './capabilities.ts';
import { newDirectChats } from './direct-chats.ts';
import { newMedia } from './files.ts';
import { measureDiscord } from './format.ts';
import { newInteractions } from './interactions.ts';
import { discordOptions } from './options.ts';
import type { DiscordOptions } from './options.ts';
import { clientSplitsAt } from './parse.ts';
import { newPlaces } from './places.ts';
import { newPosts } from './posts.ts';
import { receive } from './receive.ts';
import { newSend } from './send.ts';
import { newThreadsBelow } from './threads-below.ts';

const open = async ({ account, options, log, data }: AdapterContext<DiscordOptions>): Promise<Adapter> => {
  const clock = systemClock;
  const api = openApi(options, clock);
  const places = newPlaces(api);
  const directChats = newDirectChats(data);
  const interactions = newInteractions({ api, data, clock, log });
  const threadsBelow = newThreadsBelow({ api, data, clock });
  const posts = newPosts({ api, data, clock, options });
  return {
    identify: (signal) => identify(api, signal),
    async run(inbox, identity, signal) {
      await Promise.all([forgetProgress(data, clock.now()), interactions.forgetOld(), threadsBelow.forgetOld()]);
      const catching = { api, clock, log, catchUpHours: options.catch_up_hours };
      const receiving = { api, inbox, reading: { account, identity, options }, places, directChats, interactions, threadsBelow, catching, log, clock };
      await receive(receiving, { token: options.token, quietMs: options.probe_seconds * 1000 }, signal);
    },
    send: newSend({ api, options, data, clock, places, interactions, threadsBelow, posts }),
    repeatsAreSafe: true,
    edits: newEdits(api, options),
    typing: newTyping(api, threadsBelow),
    choices: interactions.choices,
    media: newMedia(api, options),
    threads: newThreads(api, places, log),
    directory: newDirectory(api),
    ...(options.reactions && { reactions: newReactions(api, places) }),
    ...(options.slash_commands && { menu: newMenu(api) }),
  };
};

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
  open,
  simulate: async () => (await import('./simulator.ts')).startDiscordSimulator(),
  exceptions: {},
};
