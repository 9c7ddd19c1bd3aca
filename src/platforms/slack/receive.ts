import type { AccountName } from '../../core/ids.ts';
import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AccountData, Inbox } from '../contract.ts';
import { catchUp } from './catch-up.ts';
import type { CatchingUp } from './catch-up.ts';
import { newNames } from './names.ts';
import type { SlackOptions } from './options.ts';
import { openPlaces } from './places.ts';
import { forgetOldReplies } from './private-reply.ts';
import type { Reading } from './reading.ts';
import { newTaker } from './take.ts';
import type { Taker } from './take.ts';
import { forgetOldFiles } from './uploads.ts';
import type { Workspaces } from './workspaces.ts';

export interface Receiving {
  readonly account: AccountName;
  readonly options: SlackOptions;
  readonly workspaces: Workspaces;
  readonly data: AccountData;
  readonly inbox: Inbox;
  readonly log: Logger;
  readonly clock: Clock;
  isCommand(word: string): boolean;
}

/** How payloads come: by socket or by calls. It ends only with an error, or when aborted. */
export type Way = (taker: Taker, onOpen: () => void, signal: AbortSignal) => Promise<never>;

const placesAfterGap = 50;
const auditEveryMs = 300_000;
const placesAudited = 20;

/**
 * Fetches what was said while nobody listened, and looks from then on whether Slack delivers what is said. A connection that answers every ping and
 * delivers nothing looks healthy in every other way.
 */
const listenClosely = async (catching: CatchingUp, signal: AbortSignal): Promise<never> => {
  const found = await catchUp(catching, placesAfterGap, signal);
  if (found > 0) catching.log.info({ messages: found }, 'slack.catch_up.found');
  for (;;) {
    await catching.clock.sleep(auditEveryMs, signal);
    const missed = await catchUp(catching, placesAudited, signal);
    await catching.places.save();
    if (missed > 0) throw new PlatformError('unavailable', `Slack has not delivered ${missed} of the messages in its history; if this goes on, check the event subscriptions of the app`);
  }
};

/** Receives until aborted. Rejects when the way breaks, when something cannot be stored, and when Slack is found not to deliver. */
export const receive = async (receiving: Receiving, way: Way, signal: AbortSignal): Promise<void> => {
  const { account, options, data, inbox, log, clock, isCommand } = receiving;
  const over = new AbortController();
  const within = AbortSignal.any([signal, over.signal]);
  const places = await openPlaces(data, clock);
  const watching = Promise.withResolvers<never>();
  watching.promise.catch(() => undefined);
  try {
    const workspaces = await receiving.workspaces.all(within);
    for (const { teamName, missingScopes } of workspaces) if (missingScopes.length > 0) log.warn({ workspace: teamName, scopes: missingScopes }, 'slack.scopes.missing');
    await forgetOldFiles(data, clock.now());
    await forgetOldReplies(data, clock.now());
    const reading: Reading = { account, options, workspaces, isCommand, takesPart: (thread) => places.has(thread) };
    const names = newNames({ workspaces: () => workspaces, clock, log });
    const taker = newTaker({ inbox, reading, names, places, data, log, clock }, within);
    const onOpen = (): void => void listenClosely({ taker, places, workspaces, clock, log }, within).catch(watching.reject);
    await Promise.race([taker.broken, watching.promise, way(taker, onOpen, within)]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    over.abort();
    // What is not written is only read once more.
    await Promise.allSettled([places.save()]);
  }
};
