import { PlatformError, systemClock } from 'hermes-gateway/platform';
import type { Adapter, AdapterContext, Platform } from 'hermes-gateway/platform';
import { openConnection } from './api.ts';
import type { Connection } from './api.ts';
import { maxLineBytes, measureIrc } from './format.ts';
import { ircOptions } from './options.ts';
import type { IrcOptions } from './options.ts';
import { newPace } from './pace.ts';
import { receive } from './receive.ts';
import { newSend } from './send.ts';
import { fold, isChannel } from './wire.ts';

/** Replies to what was said longer ago are not recognised. */
const mostRemembered = 1000;

const open = async (context: AdapterContext<IrcOptions>): Promise<Adapter> => {
  const { options } = context;
  const clock = systemClock;
  const pace = newPace({ burst: options.burst, lineMs: options.line_seconds * 1000 });
  const own = new Set<string>();
  let connection: Connection | undefined;
  return {
    async identify(signal) {
      if (connection?.isOpen !== true) connection = await openConnection(options, signal);
      return { id: `${options.sasl_user ?? options.nick}@${options.server}`, name: connection.nick };
    },
    async run(inbox, _identity, signal) {
      const current = connection;
      if (current === undefined) throw new PlatformError('unavailable', 'there is no connection to the server');
      try {
        await receive({ context, connection: current, inbox, clock, isOwnMessage: (id) => own.has(id) }, signal);
      } finally {
        current.end(new PlatformError('unavailable', 'receiving has ended'));
      }
    },
    send: newSend({
      connection: () => connection,
      pace: (lines) => pace(lines, clock.now()),
      sent(id) {
        own.add(id);
        for (const oldest of own) if (own.size > mostRemembered) own.delete(oldest);
      },
    }),
    directory: { list: async () => options.channels.map((channel) => ({ id: fold(channel), name: channel.slice(1), type: 'group' as const })) },
  };
};

const noHistory = 'IRC has no acknowledgements and no history: what arrives while it cannot be stored is gone.';
const oneLine = 'A message of IRC is one line: several lines arrive as several messages.';

/** IRC, as a platform that lives outside the gateway's own tree. */
export const platform: Platform<IrcOptions> = {
  name: 'irc',
  label: 'IRC',
  options: ircOptions,
  limits: { text: maxLineBytes, measure: measureIrc, mostParts: 12, editIntervalMs: 1000 },
  chatTypeOf: (chatId) => (isChannel(chatId) ? 'group' : 'dm'),
  readChat: (ref) => (/^[^\s:,]+$/.test(ref) ? { chatId: fold(ref) } : undefined),
  canonicalId: fold,
  display: { tier: 'minimal' },
  hints: 'You are writing on IRC: plain lines of a few hundred characters, no headings, no tables, no code blocks. Be brief; long answers arrive as many lines.',
  silenceMs: 100_000,
  asyncDelivery: true,
  authenticatesSenders: false,
  alwaysOn: false,
  credential: ({ server, port, nick }) => `${nick}@${server}:${port}`,
  open,
  simulate: async () => (await import('./simulator.ts')).startIrcSimulator(),
  exceptions: {
    'a missing secret is named': 'Many servers ask for no password, so that none is required.',
    'a connection that breaks during a send is no success, and the next send works': 'There is one connection for both directions, which is renewed when receiving has ended; until then nothing can be sent.',
    'a direct message arrives whole': oneLine,
    'an event survives being stored': oneLine,
    'nothing is acknowledged before it is stored': noHistory,
    'what could not be stored is not acknowledged, and comes again': noHistory,
  },
};
