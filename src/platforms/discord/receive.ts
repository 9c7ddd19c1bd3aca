import { newChains } from '../../lib/chains.ts';
import type { Chains } from '../../lib/chains.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { openSocket } from './gateway-socket.ts';
import type { GatewaySocket } from './gateway-socket.ts';
import type { Position } from './position.ts';
import { watchDelivery } from './probe.ts';
import { Reception } from './reception.ts';
import type { Receiving } from './reception.ts';
import { planShards, shardOf } from './shards.ts';
import type { Shards } from './shards.ts';

export interface ReceiveOptions {
  readonly token: string;
  readonly quietMs: number;
  /** How many connections to open; as many as Discord recommends when left out. */
  readonly shards: number | undefined;
}

/** What is being stored when the connection ends gets this long. */
const endTimeoutMs = 500;

/** Discord lets so much time pass between two new sessions. */
const betweenSessionsMs = 5_000;

/**
 * Lets connections begin one after another where Discord wants that: the next of a row may say who it is five seconds after the one before was ready.
 * `turn` opens a connection and waits until it is.
 */
export const inRow = async <T>(rows: Chains, row: string, turn: { readonly open: () => Promise<T>; ready(opened: T): Promise<void>; readonly clock: Clock; readonly signal: AbortSignal }): Promise<T> => {
  const opened = Promise.withResolvers<T>();
  void rows.run(row, async () => {
    try {
      turn.signal.throwIfAborted();
      const value = await turn.open();
      opened.resolve(value);
      await turn.ready(value);
      await slept(turn.clock, betweenSessionsMs, turn.signal);
    } catch (error) {
      opened.reject(error);
    }
  });
  return opened.promise;
};

interface Shard {
  readonly index: number;
  readonly position: Position;
  readonly plan: Shards;
  readonly rows: Chains;
}

const connect = ({ api, inbox, clock }: Receiving, { index, position, plan, rows }: Shard, parts: { readonly token: string; readonly reception: Reception; readonly signal: AbortSignal }): Promise<GatewaySocket> => {
  const { reception, signal } = parts;
  const { session } = position;
  const url = session?.url ?? plan.url;
  const open = (): Promise<GatewaySocket> =>
    openSocket(
      {
        url,
        token: parts.token,
        session,
        ...(plan.count > 1 && { shard: [index, plan.count] as const }),
        agent: api.transport.agentFor(url),
        clock,
        onDispatch: (dispatch) => reception.dispatched(dispatch),
        onAlive: () => inbox.alive(),
        onSessionLost: () => position.forget(),
        storedSeq: () => position.storedSeq(),
      },
      signal,
    );
  // Whoever takes a session up again does not have to wait.
  if (plan.count === 1 || session !== undefined) return open();
  return inRow(rows, String(index % plan.maxConcurrency), { open, ready: (socket) => socket.ready, clock, signal });
};

const nowhere = { list: async () => [] };

/** One connection of an account, until it is aborted or lost. */
const receiveShard = async (parts: Receiving, shard: Shard, options: ReceiveOptions, signal: AbortSignal): Promise<void> => {
  const { api, clock, log, reading, places, directChats } = parts;
  const { index, position, plan } = shard;
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const isFirst = index === 0;
  const reception = new Reception(parts, { position, isFirst }, both);
  try {
    if (position.session !== undefined) await position.save();
    const socket = await connect(parts, shard, { token: options.token, reception, signal: both });
    reception.attach(socket);
    const guild = (): Promise<string | undefined> => places.anyGuild(both, (id) => shardOf(id, plan.count) === index);
    const watching = watchDelivery({ api, guild, directChats: isFirst ? directChats : nowhere, position, socket, clock, ownId: reading.identity.id, quietMs: options.quietMs, lastEventMs: () => reception.lastEventMs }, both);
    watching.catch((error: unknown) => socket.fail(error));
    position.failed.catch((error: unknown) => socket.fail(error));
    await socket.ended;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    over.abort();
    await Promise.race([reception.settled(), clock.sleep(endTimeoutMs)]);
    // An older position only makes Discord repeat what the inbox knows already.
    await position.save().catch((error: unknown) => log.warn({ err: error }, 'discord.position.not_saved'));
  }
};

/**
 * Receives until aborted. An event counts as seen, for heartbeats and for taking the session up again, only when it is stored. Of several connections
 * the first that is lost ends all: each goes on where it stopped.
 */
export const receive = async (parts: Receiving, options: ReceiveOptions, signal: AbortSignal): Promise<void> => {
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  try {
    const plan = await planShards(parts, options.shards, both);
    const rows = newChains();
    const shards = plan.positions.map((position, index) => receiveShard(parts, { index, position, plan, rows }, options, both));
    try {
      await Promise.all(shards);
    } finally {
      over.abort();
      await Promise.allSettled(shards);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
