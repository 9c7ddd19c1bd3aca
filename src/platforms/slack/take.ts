import type { InboundEvent } from '../../core/message.ts';
import { newChains } from '../../lib/chains.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Accepted, AccountData, Inbox } from '../contract.ts';
import type { Names } from './names.ts';
import { parseEvent, parsePress, parseSlash } from './parse.ts';
import type { Places } from './places.ts';
import { rememberReply } from './private-reply.ts';
import type { Parsed, Reading } from './reading.ts';
import { withThreadSoFar } from './thread-so-far.ts';
import { record, text, timestamp } from './wire.ts';

/** What Slack sends, by its own words for it. */
export type PayloadKind = 'events_api' | 'interactive' | 'slash_commands';

export interface Taking {
  readonly inbox: Inbox;
  readonly reading: Reading;
  readonly names: Names;
  readonly places: Places;
  readonly data: AccountData;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Takes payloads in: in order within a channel, side by side across channels. */
export interface Taker {
  /** Resolves when the payload is stored or skipped on purpose; only then may Slack be told. Rejects when it must come again. */
  take(kind: PayloadKind, payload: unknown): Promise<void>;
  /** Work on a channel that everything arriving later waits for. */
  before<T>(channelId: string, work: () => Promise<T>): Promise<T>;
  /** Takes a message of the history, for work that holds the channel. Answers whether it is one that Slack should have delivered by itself. */
  takeOld(channelId: string, teamId: string, message: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Rejects when something could not be stored: from then on nothing is taken, so that nothing after it counts as stored. */
  readonly broken: Promise<never>;
}

const channelOf = (payload: unknown): string => {
  const outer = record(payload);
  const event = record(outer?.['event']);
  return text(event?.['channel']) ?? text(record(event?.['item'])?.['channel']) ?? text(outer?.['channel_id']) ?? text(record(outer?.['channel'])?.['id']) ?? '';
};

const parse = ({ reading, clock }: Taking, kind: PayloadKind, payload: unknown): Parsed => {
  switch (kind) {
    case 'events_api':
      return parseEvent(reading, payload);
    case 'interactive':
      return parsePress(reading, payload, clock.now());
    case 'slash_commands':
      return parseSlash(reading, payload, clock.now());
    default:
      return kind satisfies never;
  }
};

/** A message that somebody has answered, or may still: its channel, and the thread that it is in or begins. */
const markReached = async ({ places }: Taking, { kind, chat, messageId }: InboundEvent, stored: boolean): Promise<void> => {
  const ts = timestamp(messageId);
  if (kind !== 'message' || ts === undefined || chat.scopeId === undefined) return;
  const threadTs = timestamp(chat.threadId);
  const channel = { teamId: chat.scopeId, channelId: chat.id };
  if (threadTs === undefined || threadTs === ts) await places.reached(channel, ts, stored);
  if (threadTs !== undefined) await places.reached({ ...channel, threadTs }, ts, stored);
};

export const newTaker = (taking: Taking, signal: AbortSignal): Taker => {
  const { inbox, log, names } = taking;
  const chains = newChains();
  const { promise: broken, reject: breakDown } = Promise.withResolvers<never>();
  broken.catch(() => undefined);
  let failure: { readonly error: unknown } | undefined;

  /** What people say among themselves costs no call. */
  const introduced = async (event: InboundEvent): Promise<InboundEvent> =>
    withThreadSoFar({ ...taking, workspaces: taking.reading.workspaces }, await names.complete(event, signal), signal);

  const store = async (event: InboundEvent): Promise<Accepted> => {
    if (failure !== undefined) throw failure.error;
    try {
      const accepted = await inbox.accept(event.addressed ? await introduced(event) : event);
      await markReached(taking, event, event.addressed && (accepted === 'stored' || accepted === 'duplicate'));
      return accepted;
    } catch (error) {
      failure = { error };
      breakDown(error);
      throw error;
    }
  };

  return {
    broken,
    before: (channelId, work) => chains.run(channelId, work),
    take: (kind, payload) =>
      chains.run(channelOf(payload), async () => {
        const parsed = parse(taking, kind, payload);
        if ('skip' in parsed) {
          // Every message and every change of our own comes back.
          log[parsed.skip.startsWith('own ') ? 'debug' : 'info']({ kind, reason: parsed.skip }, 'slack.event.skipped');
          return;
        }
        if (kind === 'slash_commands') await rememberReply(taking.data, parsed, { payload, nowMs: taking.clock.now() });
        await store(parsed);
      }),
    async takeOld(channelId, teamId, message) {
      const parsed = parseEvent(taking.reading, { team_id: teamId, event: { ...message, type: 'message', channel: channelId } });
      if ('skip' in parsed) return false;
      // An app may be told of mentions only, and need not hear what people say among themselves.
      return (await store(parsed)) === 'stored' && parsed.addressed;
    },
  };
};
