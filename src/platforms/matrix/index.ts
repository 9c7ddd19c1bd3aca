import { chatsLike } from '../../core/target.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Adapter, AdapterContext, Identity, Platform } from '../contract.ts';
import { newApi } from './api.ts';
import type { MatrixApi, Whoami } from './api.ts';
import { newCrypto } from './crypto/crypto.ts';
import type { Crypto } from './crypto/crypto.ts';
import { newDeviceChecks } from './device-checks.ts';
import { newDirectory } from './directory.ts';
import { newMedia } from './files.ts';
import { measureMatrix } from './format.ts';
import { newHttp } from './http.ts';
import { matrixOptions } from './options.ts';
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

const open = async ({ account, options, log, data }: AdapterContext<MatrixOptions>): Promise<Adapter> => {
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
      const me = await whoami.ask(signal);
      outgoing.follow(true);
      try {
        await receive({ account, api, inbox, log, clock, options, me, rooms, timeline, crypto: await crypto(signal), parse: newParser({ account, identity, options }) }, signal);
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

export const matrix: Platform<MatrixOptions> = {
  name: 'matrix',
  label: 'Matrix',
  options: matrixOptions,
  // Words and HTML together; an event may have 64 KB, and encryption makes it a third larger.
  limits: { text: 32_000, measure: measureMatrix, editIntervalMs: 3000 },
  readChat: chatsLike(/^![^\s$]+$/),
  display: { tier: 'medium' },
  hints:
    'You are writing in Matrix. Markdown is shown as HTML: bold, italic, strikethrough, spoilers, links, headings, lists, tables, quotes, inline code and code blocks with their language. ' +
    'Name people by their full id, such as @name:server, and they are notified.',
  // An empty sync is answered within 30 seconds, 120 at most.
  silenceMs: 150_000,
  asyncDelivery: true,
  authenticatesSenders: false,
  // Clients keep `/` to themselves.
  commandMark: '!',
  alwaysOn: false,
  deviceChecks: (data) => newDeviceChecks(data, () => systemClock.now()),
  credential: ({ access_token: token, user_id: user, homeserver }) => token ?? (user === undefined ? undefined : `${homeserver} ${user}`),
  open,
  simulate: async (variant) => (await import('./simulator.ts')).startMatrixSimulator({ encrypted: variant === 'encrypted' }),
  variants: ['encrypted'],
  exceptions: {},
};
