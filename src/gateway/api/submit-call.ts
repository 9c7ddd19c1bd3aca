import { createHash } from 'node:crypto';
import { newSessionId } from '../../core/ids.ts';
import type { InboundEvent } from '../../core/message.ts';
import { sessionKey } from '../../core/session-key.ts';
import type { Attachment, TranscriptMessage } from '../../core/transcript.ts';
import { findApiCall, insertApiCall } from '../../store/api/api-calls.ts';
import { enqueueLane, laneFacts, lockLane, turnLane } from '../../store/lanes/lanes.ts';
import { countWaiting, insertInboxItem } from '../../store/messages/inbox.ts';
import type { Decision } from '../../store/messages/inbox.ts';
import { bindSession, boundSession, changeSettings, createSession, findSession, lockSessionKey, reopenSession } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import { appendMessage, copyMessages, newestMessages } from '../../store/sessions/transcripts.ts';
import type { Writing } from '../../store/store.ts';
import { apiAccount, apiTarget } from './place.ts';
import type { ApiPlace } from './place.ts';

/** Which conversation a call continues. */
export type CallSession =
  | { readonly type: 'new' }
  | { readonly type: 'id'; readonly id: string }
  /** The one that the key knows by this name, or a new one of that name. */
  | { readonly type: 'named'; readonly name: string }
  /** As it stood after an earlier call. */
  | { readonly type: 'after'; readonly callId: string; readonly kind: string };

/** A call that is answered by a turn of a conversation. */
export interface SubmittedCall {
  readonly id: string;
  readonly kind: string;
  readonly callerId: string;
  readonly agent: string;
  readonly place: ApiPlace;
  readonly session: CallSession;
  /** What was said before; only a new conversation takes it over. */
  readonly history: readonly TranscriptMessage[];
  readonly text: string;
  readonly files: readonly Attachment[];
  readonly results: readonly { readonly callId: string; readonly text: string }[];
  /** Plain JSON, kept with the call. */
  readonly request: unknown;
  readonly hidden: boolean;
  readonly nowMs: number;
  /** What routes and hooks have said about it. */
  readonly decisions?: readonly Decision[];
  /** What is kept together with it. */
  readonly within?: (tx: Writing, sessionId: string) => Promise<void>;
}

/** Why a call cannot be taken. */
export type CallRefusal = 'no_session' | 'no_call' | 'call_running' | 'queue_full' | { readonly unknownResult: string };

export type Submitted = { readonly type: 'submitted'; readonly sessionId: string } | { readonly type: 'refused'; readonly why: CallRefusal };

interface Seat {
  readonly session: Pick<Session, 'id' | 'agent' | 'endedAtMs'>;
  readonly isNew: boolean;
}

/** Of one conversation, whether they begin something or are said to a run. */
export const mostWaitingCalls = 20;

const placeKey = (call: SubmittedCall, name: string): string => {
  const id = createHash('sha256').update(JSON.stringify([call.callerId, name])).digest('hex').slice(0, 32);
  return sessionKey({ agent: call.agent, account: apiAccount, chat: { id, type: 'dm' } });
};

const openSession = async (tx: Writing, call: SubmittedCall, parentId?: string): Promise<Seat> => {
  const id = newSessionId(new Date(call.nowMs));
  await createSession(tx, { id, agent: call.agent, account: apiAccount, chatType: 'dm', userId: call.callerId, ...(parentId !== undefined && { parentId }) });
  // Each call has its own answer; a newer one does not take the place of an older one.
  await changeSettings(tx, id, { busyMode: 'queue' });
  return { session: { id, agent: call.agent, endedAtMs: null }, isNew: true };
};

/** A conversation of this key, which stays until the end of the transaction; those of other keys and of chats do not exist for it. */
const ownSession = async (tx: Writing, call: SubmittedCall, id: string): Promise<Seat | undefined> => {
  await lockLane(tx, { lane: turnLane(id), kind: 'turn' });
  const session = await findSession(tx, id);
  return session === undefined || session.account !== apiAccount || session.userId !== call.callerId ? undefined : { session, isNew: false };
};

const namedSession = async (tx: Writing, call: SubmittedCall, name: string): Promise<Seat> => {
  const key = placeKey(call, name);
  await lockSessionKey(tx, key);
  const bound = await boundSession(tx, key);
  const known = bound === undefined ? undefined : await ownSession(tx, call, bound.sessionId);
  if (known !== undefined) return known;
  const seat = await openSession(tx, call);
  await bindSession(tx, { sessionKey: key, sessionId: seat.session.id, target: apiTarget(call.place) });
  return seat;
};

/** Goes on in the conversation itself as long as nothing was said there since, otherwise in a copy of it as it was. */
const sessionAfter = async (tx: Writing, call: SubmittedCall, after: Extract<CallSession, { type: 'after' }>): Promise<Seat | CallRefusal> => {
  const earlier = await findApiCall(tx, { id: after.callId, keyId: call.callerId, kind: after.kind });
  if (earlier === undefined) return 'no_call';
  if (earlier.result === undefined) return 'call_running';
  const lane = turnLane(earlier.sessionId);
  const seat = await ownSession(tx, call, earlier.sessionId);
  if (seat === undefined) return 'no_call';
  const [newest] = await newestMessages(tx, earlier.sessionId, { limit: 1 });
  const untouched = (newest?.id ?? 0) <= earlier.result.throughId && !(await laneFacts(tx, lane)).running && (await countWaiting(tx, lane)) === 0;
  if (untouched) return seat;
  const copy = await openSession(tx, { ...call, agent: seat.session.agent }, earlier.sessionId);
  await copyMessages(tx, earlier.sessionId, copy.session.id, earlier.result.throughId);
  return { ...copy, isNew: false };
};

const seatOf = async (tx: Writing, call: SubmittedCall): Promise<Seat | CallRefusal> => {
  const { session } = call;
  switch (session.type) {
    case 'new':
      return openSession(tx, call);
    case 'id':
      return (await ownSession(tx, call, session.id)) ?? 'no_session';
    case 'named':
      return namedSession(tx, call, session.name);
    case 'after':
      return sessionAfter(tx, call, session);
    default:
      throw session satisfies never;
  }
};

const lookBack = 50;

/** The results with the names of the tools that were called; the id of one that nobody called. */
const namedResults = async (tx: Writing, call: SubmittedCall, sessionId: string): Promise<NonNullable<InboundEvent['results']> | { readonly unknownResult: string }> => {
  if (call.results.length === 0) return [];
  const rows = await newestMessages(tx, sessionId, { limit: lookBack });
  const names = new Map(rows.flatMap(({ message }) => (message.toolCalls ?? []).map(({ id, name }) => [id, name] as const)));
  const unknown = call.results.find(({ callId }) => !names.has(callId));
  if (unknown !== undefined) return { unknownResult: unknown.callId };
  return call.results.map(({ callId, text }) => ({ callId, text, toolName: names.get(callId) ?? '' }));
};

const eventOf = (call: SubmittedCall, results: NonNullable<InboundEvent['results']>): InboundEvent => ({
  account: apiAccount,
  kind: 'message',
  nativeId: call.id,
  chat: call.place.chat,
  sender: { ...call.place.sender, id: call.callerId },
  text: call.text,
  media: [],
  addressed: true,
  mentioned: false,
  sentAtMs: call.nowMs,
  ...(call.files.length > 0 && { files: call.files }),
  ...(results.length > 0 && { results }),
});

class Refused extends Error {
  readonly why: CallRefusal;

  constructor(why: CallRefusal) {
    super('refused');
    this.why = why;
  }
}

/** Puts a call into the lane of its conversation, all or nothing. From here on it is a message like every other: kept, in order, taken up again after a crash. */
export const submitCall = async (write: <T>(work: (tx: Writing) => Promise<T>) => Promise<T>, call: SubmittedCall): Promise<Submitted> => {
  try {
    return await write(async (tx) => {
      const seat = await seatOf(tx, call);
      if (typeof seat === 'string' || !('session' in seat)) throw new Refused(seat);
      const sessionId = seat.session.id;
      const lane = turnLane(sessionId);
      if (seat.session.endedAtMs !== null) await reopenSession(tx, sessionId);
      await enqueueLane(tx, { lane, kind: 'turn' });
      if ((await countWaiting(tx, lane)) >= mostWaitingCalls) throw new Refused('queue_full');
      if (seat.isNew) for (const row of call.history) await appendMessage(tx, { sessionId, turnId: null }, row);
      const results = await namedResults(tx, call, sessionId);
      if ('unknownResult' in results) throw new Refused(results);
      const decisions = [...(call.decisions ?? []), { step: 'agent', verdict: seat.session.agent }, { step: 'kind', verdict: `call of the API, key ${call.callerId}` }];
      await insertInboxItem(tx, { event: eventOf(call, results), class: 'chat', decisions, place: { lane, sessionId, sessionKey: '' } });
      await insertApiCall(tx, { id: call.id, keyId: call.callerId, kind: call.kind, sessionId, request: call.request, hidden: call.hidden });
      await call.within?.(tx, sessionId);
      return { type: 'submitted', sessionId };
    });
  } catch (error) {
    if (error instanceof Refused) return { type: 'refused', why: error.why };
    throw error;
  }
};
