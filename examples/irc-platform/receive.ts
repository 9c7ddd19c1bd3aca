import type { AdapterContext, Clock, Inbox } from 'hermes-gateway/platform';
import type { Connection } from './api.ts';
import type { IrcOptions } from './options.ts';
import { parseLine } from './parse.ts';
import { fold, nickOf } from './wire.ts';
import type { Line } from './wire.ts';

export interface Receiving {
  readonly context: AdapterContext<IrcOptions>;
  readonly connection: Connection;
  readonly inbox: Inbox;
  readonly clock: Clock;
  isOwnMessage(id: string): boolean;
}

const pingEveryMs = 30_000;

/** Channels that we could not enter, or were thrown out of. */
const troubles = new Set(['403', '405', '471', '473', '474', '475', '476', '477']);

const note = ({ context: { log }, connection }: Receiving, line: Line): void => {
  if (troubles.has(line.command)) log.warn({ channel: line.params[1], reason: line.params.at(-1) }, 'irc.not_entered');
  if (line.command === 'KICK' && fold(line.params[1] ?? '') === fold(connection.nick)) log.warn({ channel: line.params[0], by: nickOf(line.source), reason: line.params[2] }, 'irc.thrown_out');
};

/** A server that answers is alive; one that does not is found out by whoever watches us. */
const keepAsking = async ({ connection, clock }: Receiving, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    connection.write('PING', ['alive']);
    await clock.sleep(pingEveryMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
};

/** Takes what people say, one line after the other, until aborted or until the connection is over. */
export const receive = async (receiving: Receiving, signal: AbortSignal): Promise<void> => {
  const { context, connection, inbox, clock } = receiving;
  const broken = Promise.withResolvers<never>();
  let before: Promise<void> = Promise.resolve();
  let count = 0;
  const began = clock.now().toString(36);
  using _reading = connection.read((line) => {
    inbox.alive();
    note(receiving, line);
    const event = parseLine(line, { account: context.account, nick: connection.nick, trustNicks: context.options.trust_nicks, nowMs: clock.now(), newId: () => `${began}-${(count += 1)}`, isOwnMessage: receiving.isOwnMessage });
    if (event === undefined) return;
    before = before.then(async () => void (await inbox.accept(event))).catch((error: unknown) => broken.reject(error));
  });
  for (const channel of context.options.channels) connection.write('JOIN', [channel]);
  const over = new AbortController();
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const asking = keepAsking(receiving, AbortSignal.any([signal, over.signal]));
  try {
    if (!signal.aborted) await Promise.race([stopped, broken.promise, connection.ended.then((reason) => Promise.reject(reason))]);
    connection.write('QUIT', ['bye']);
  } finally {
    over.abort();
    await asking;
    await before;
  }
};
