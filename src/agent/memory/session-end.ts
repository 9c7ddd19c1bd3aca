import { platformOf } from '../../core/ids.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import type { Logger } from '../../lib/logger.ts';
import { takeSessionEnd } from '../../store/sessions/session-ends.ts';
import type { SessionEnd } from '../../store/sessions/session-ends.ts';
import { findSession } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import { newestSaid } from '../../store/sessions/transcripts.ts';
import type { Store } from '../../store/store.ts';
import type { TurnPlace } from '../contract.ts';
import type { MemoryOptions } from './options.ts';
import { memorySessionOf } from './places.ts';
import { reviewForMemory } from './review.ts';
import type { ReviewDeps, ReviewOutcome } from './review.ts';

export interface SessionEndDeps extends ReviewDeps {
  readonly agent: string;
  readonly options: MemoryOptions;
  readonly store: Store;
  readonly log: Logger;
  /** What a review has used, for whoever counts. */
  onReviewed?(sessionId: string, outcome: ReviewOutcome): void;
}

const mostMessages = 200;

/** Where the conversation took place, as far as memory cares. */
const placeOf = (session: Session): TurnPlace => ({
  agent: session.agent,
  platform: platformOf(session.account),
  target: { account: session.account, chatId: '', chatType: session.chatType },
});

/** One that goes on elsewhere is not over, and one that was reopened will end again. */
const isWorthReviewing = ({ options, memory }: SessionEndDeps, session: Session): boolean =>
  options.review_at_end && session.endReason !== 'branched' && session.turnCount >= options.review_min_turns && memory.tools.some(({ definition }) => definition.name === 'memory');

/** Takes one end off the list and tells the provider, in one transaction. */
const takeOne = (deps: SessionEndDeps): Promise<{ readonly end: SessionEnd; readonly session: Session | undefined } | undefined> =>
  deps.store.write(async (tx) => {
    const end = await takeSessionEnd(tx, deps.agent);
    if (end === undefined) return undefined;
    const session = await findSession(tx, end.sessionId);
    if (session === undefined || session.endedAtMs !== end.endedAtMs) return { end, session: undefined };
    await deps.memory.queueEnd(tx, { reason: end.reason, atMs: end.endedAtMs }, memorySessionOf(session, placeOf(session)));
    return { end, session };
  });

const transcriptOf = async (store: Store, sessionId: string): Promise<readonly TranscriptMessage[]> =>
  (await store.read((db) => newestSaid(db, sessionId, mostMessages))).toReversed().map((row) => row.message);

const review = async (deps: SessionEndDeps, session: Session, signal: AbortSignal): Promise<void> => {
  try {
    const transcript = await transcriptOf(deps.store, session.id);
    const outcome = await reviewForMemory(deps, { sessionId: session.id, userId: session.userId, place: placeOf(session), transcript }, signal);
    deps.log.info({ session: session.id, reason: outcome.reason, changes: outcome.changes, input_tokens: outcome.usage.inputTokens, output_tokens: outcome.usage.outputTokens }, 'memory.reviewed');
    deps.onReviewed?.(session.id, outcome);
  } catch (error) {
    deps.log.error({ err: error, session: session.id }, 'memory.review_failed');
  }
};

/**
 * Looks after conversations that have ended: the provider is told, and the model looks through each for what is worth keeping, at most once per end whatever
 * happens in between. Belongs off the path of messages; answers how many it took.
 */
export const lookAfterSessionEnds = async (deps: SessionEndDeps, signal: AbortSignal): Promise<number> => {
  for (let count = 0; ; count += 1) {
    if (signal.aborted) return count;
    const taken = await takeOne(deps);
    if (taken === undefined) return count;
    deps.memory.wake();
    if (taken.session !== undefined && isWorthReviewing(deps, taken.session)) await review(deps, taken.session, signal);
  }
};
