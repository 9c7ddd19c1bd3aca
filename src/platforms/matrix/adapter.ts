import { systemClock } from '../../lib/clock.ts';
import type { Adapter, AdapterContext, Identity } from '../contract.ts';
import { newApi } from './api.ts';
import type { MatrixApi, Whoami } from './api.ts';
import { newCrypto } from './crypto/crypto.ts';
import type { Crypto } from './crypto/crypto.ts';
import { newDirectory } from './directory.ts';
import { newMedia } from './files.ts';
import { newHttp } from './http.ts';
import type { MatrixOptions } from './options.ts';
import { newOutgoing } from './outgoing.ts';
import type { Outgoing } from './outgoing.ts';
import { newParser } from './parse.ts';
import { newReactions } from './reactions.ts';
import { receive } from './receive.ts';
import { newRooms } from './rooms.ts';
import { newEdits, newSend, newThreads } from './send.ts';
import { newCredential } from './session.ts';
import { newTimeline } from './timeline.ts';
import { newTyping } from './typing.ts';

interface Self {
  readonly known: () => Whoami | undefined;
  /** Asks the homeserver the first time only. */
  ask(signal: AbortSignal): Promise<Whoami>;
  /** Asks it again: a new connection may have a new device. */
  renew(signal: AbortSignal): Promise<Whoami>;
}

const newWhoami = (api: MatrixApi): Self => {
  let answer: Whoami | undefined;
  const renew = async (signal: AbortSignal): Promise<Whoami> => (answer = await api.whoami(signal));
  return { known: () => answer, ask: async (signal) => answer ?? renew(signal), renew };
};

export const open = async ({ account, options, log, data }: AdapterContext<MatrixOptions>): Promise<Adapter> => {
  const api = newApi(newHttp(options.homeserver, options.request_timeout_seconds * 1000, newCredential(options, data)));
  const clock = systemClock;
  const whoami = newWhoami(api);
  const rooms = newRooms(data);
  let encrypting: { readonly deviceId: string; readonly crypto: Crypto } | undefined;
  /** Undefined when the account cannot encrypt; the keys themselves are loaded with their first use. */
  const crypto = async (signal: AbortSignal): Promise<Crypto | undefined> => {
    if (options.encryption === 'off') return undefined;
    const { userId, deviceId } = await whoami.ask(signal);
    if (deviceId === undefined) return undefined;
    const post: Outgoing['post'] = (event, s) => outgoing.post(event, s);
    if (encrypting?.deviceId !== deviceId) encrypting = { deviceId, crypto: newCrypto({ api, post, data, options, userId, deviceId, clock, log }) };
    return encrypting.crypto;
  };
  const timeline = newTimeline({ api, data, userId: () => whoami.known()?.userId ?? '', decrypt: async (roomId, event) => encrypting?.crypto.decrypt(roomId, event) });
  const outgoing = newOutgoing({ api, rooms, options, clock, crypto });
  const typing = newTyping({ api, me: whoami.ask, clock, log });
  const sending = { api, options, outgoing, timeline, typing };
  return {
    async identify(signal) {
      const { userId } = await whoami.renew(signal);
      return { id: userId, name: (await api.displayName(userId, signal)) ?? userId, handle: userId } satisfies Identity;
    },
    async run(inbox, identity, signal) {
      // Before the cryptography is loaded, which takes long on a slow machine: what is said meanwhile is heard.
      const startedMs = clock.now();
      const me = await whoami.ask(signal);
      outgoing.follow(true);
      try {
        await receive({ account, api, inbox, log, clock, options, me, rooms, timeline, crypto: await crypto(signal), startedMs, parse: newParser({ account, identity, options }) }, signal);
      } finally {
        outgoing.follow(false);
      }
    },
    send: newSend(sending),
    repeatsAreSafe: true,
    edits: newEdits(sending),
    typing,
    media: newMedia(api, options.max_media_bytes),
    threads: newThreads(sending),
    directory: newDirectory(api, rooms),
    ...(options.reactions && { reactions: newReactions(api, whoami.ask) }),
  };
};
