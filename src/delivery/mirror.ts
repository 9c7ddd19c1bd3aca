import type { Target } from '../core/message.ts';
import { turnLane } from '../store/lanes/lanes.ts';
import { placesIn } from '../store/sessions/bound-places.ts';
import type { BoundPlace } from '../store/sessions/bound-places.ts';
import { appendMessage, newestMessages } from '../store/sessions/transcripts.ts';
import { unfinishedTurn } from '../store/sessions/turns.ts';
import type { Reading, Writing } from '../store/store.ts';

/** A message that was sent into a chat from elsewhere. */
export interface Mirrored {
  readonly target: Target;
  readonly text: string;
  /** Only conversations of this agent are touched; left out where the owner speaks. */
  readonly agent?: string;
  /** The person it is meant for, where that is known: their own conversation comes first. */
  readonly userId?: string;
  /** The conversation that sent it, which knows already. */
  readonly except?: string;
  /** How it came there, for the model: `sent from another conversation`. */
  readonly how: string;
  /** The agent's own words; what comes from others is never put into its mouth. */
  readonly isOwn: boolean;
}

/** `ambiguous`: several people have a conversation there, and whose it is about nobody knows. */
export type MirrorOutcome = 'mirrored' | 'none' | 'ambiguous';

const choose = (places: readonly BoundPlace[], userId: string | undefined): BoundPlace | MirrorOutcome => {
  const ids = new Map(places.map((place) => [place.sessionId, place]));
  const own = [...ids.values()].find((place) => userId !== undefined && place.userId === userId);
  const [only, ...others] = own === undefined ? ids.values() : [own];
  if (only === undefined) return 'none';
  return others.length === 0 ? only : 'ambiguous';
};

/**
 * Whether the text may stand there as the agent's: only where a person spoke last and nobody is answering them. Between a tool call and its result, and beside
 * another answer, a second voice of the agent would put the roles out of order.
 */
const mayBeAnswer = async (db: Reading, sessionId: string): Promise<boolean> => {
  if ((await unfinishedTurn(db, turnLane(sessionId))) !== undefined) return false;
  const [last] = await newestMessages(db, sessionId, { limit: 1 });
  return last === undefined || last.message.role === 'user';
};

/** Writes into the transcript of the chat's conversation what was sent there from elsewhere, so that whoever answers next knows of it. */
export const mirrorSend = async (tx: Writing, sent: Mirrored): Promise<MirrorOutcome> => {
  const places = (await placesIn(tx, sent.target)).filter(
    (place) => place.target.threadId === sent.target.threadId && place.sessionId !== sent.except && (sent.agent === undefined || place.agent === sent.agent),
  );
  const place = choose(places, sent.userId);
  if (typeof place === 'string') return place;
  const asOwn = sent.isOwn && (await mayBeAnswer(tx, place.sessionId));
  const message = asOwn ? ({ role: 'assistant', content: sent.text } as const) : ({ role: 'user', content: `[This was ${sent.how} and shown in this chat. Nobody here has said it:]\n${sent.text}` } as const);
  await appendMessage(tx, { sessionId: place.sessionId, turnId: null }, message);
  return 'mirrored';
};
