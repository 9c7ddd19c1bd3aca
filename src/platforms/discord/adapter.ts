import { PlatformError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Adapter, AdapterContext, Identity, Typing } from '../contract.ts';
import { newOwnThreads } from '../own-threads.ts';
import { forgetProgress } from '../progress.ts';
import { channelOf } from './address.ts';
import { openApi } from './api.ts';
import type { DiscordApi } from './api.ts';
import { newDirectChats } from './direct-chats.ts';
import { newDirectory } from './directory.ts';
import { newEdits } from './edits.ts';
import { newMedia } from './files.ts';
import { newInteractions } from './interactions.ts';
import { newMenu } from './menu.ts';
import type { DiscordOptions } from './options.ts';
import { newPlaces } from './places.ts';
import { newPosts } from './posts.ts';
import { newReactions } from './reactions.ts';
import { receive } from './receive.ts';
import { newSend } from './send.ts';
import { newThreadsBelow } from './threads-below.ts';
import type { ThreadsBelow } from './threads-below.ts';
import { newNames, newThreads } from './threads.ts';
import { readUser, record, text } from './wire.ts';

const identify = async (api: DiscordApi, signal: AbortSignal): Promise<Identity> => {
  const raw = await api.call({ method: 'GET', route: '/users/@me' }, signal);
  const me = readUser(raw);
  if (me === undefined) throw new PlatformError('unavailable', 'GET /users/@me: the answer is not a user');
  const handle = text(record(raw)?.['username']);
  return { id: me.id, name: me.name ?? me.id, ...(handle !== undefined && { handle }) };
};

/** Discord shows it for ten seconds. */
const newTyping = (api: DiscordApi, threadsBelow: ThreadsBelow): Typing => ({
  everyMs: 8000,
  async show(target, signal) {
    const channel = channelOf(target);
    if (target.chatType === 'thread') await threadsBelow.ensure(channel, signal);
    await api.call({ method: 'POST', route: '/channels/{channel}/typing', ids: { channel } }, signal);
  },
});

export const open = async ({ account, options, log, data }: AdapterContext<DiscordOptions>): Promise<Adapter> => {
  const clock = systemClock;
  const api = openApi(options, clock);
  const places = newPlaces(api);
  const directChats = newDirectChats(data);
  const interactions = newInteractions({ api, data, clock, log });
  const ownThreads = newOwnThreads({ data, clock, log });
  const threadsBelow = newThreadsBelow({ api, data, clock, ownThreads });
  const posts = newPosts({ api, data, clock, options });
  return {
    identify: (signal) => identify(api, signal),
    async run(inbox, identity, signal) {
      await Promise.all([forgetProgress(data, clock.now()), interactions.forgetOld(), threadsBelow.forgetOld(), ownThreads.forgetOld()]);
      const catching = { api, clock, log, catchUpHours: options.catch_up_hours };
      const receiving = { api, inbox, reading: { account, identity, options }, places, directChats, interactions, threadsBelow, catching, log, clock };
      await receive(receiving, { token: options.token, quietMs: options.probe_seconds * 1000, shards: options.shards }, signal);
    },
    send: newSend({ api, options, data, clock, places, interactions, threadsBelow, posts }),
    repeatsAreSafe: true,
    // Discord remembers a nonce for "a few minutes".
    repeatsAreSafeForMs: 120_000,
    edits: newEdits(api, options),
    typing: newTyping(api, threadsBelow),
    choices: interactions.choices,
    media: newMedia(api, options),
    threads: newThreads({ api, places, log, ownThreads }),
    names: newNames({ api, ownThreads, threadsBelow }),
    directory: newDirectory(api),
    ...(options.reactions && { reactions: newReactions(api, places, clock) }),
    ...(options.slash_commands && { menu: newMenu(api) }),
  };
};
