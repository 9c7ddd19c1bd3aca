import { sessionKey } from '../../core/session-key.ts';
import type { Routing } from '../../routing/options.ts';
import { routedAgent } from '../../routing/select-agent.ts';
import { accountData } from '../../store/accounts/account-data.ts';
import { mostMessages } from '../../sessions/load-context.ts';
import { contextSize } from '../../store/sessions/context-size.ts';
import { countWaiting, openControlItems } from '../../store/messages/inbox.ts';
import { outLane, turnLane } from '../../store/lanes/lanes.ts';
import { hasOpenDeliveries } from '../../store/messages/outbox.ts';
import { openQuestions } from '../../store/agents/questions.ts';
import { boundSession, findSession } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Reading, Store } from '../../store/store.ts';
import { unfinishedTurn } from '../../store/sessions/turns.ts';

/** A window of the terminal: the chat that its messages belong to. */
export interface Window {
  readonly account: string;
  readonly chat: string;
  /** Who answers there by the routes; the main agent when left out. */
  readonly agent?: string;
}

/** The window of a chat, with who answers there. */
export const windowAt = (routing: Routing, account: string, chat: string): Window => ({ account, chat, agent: routedAgent(routing, { account, chat: { id: chat, type: 'dm' }, sender: { id: 'owner', isBot: false } }).id });

/** What the store says about a window. It is the truth whatever the connection to the gateway does. */
export interface Situation {
  readonly session: Session | undefined;
  /** As the model counted it last, otherwise estimated. */
  readonly contextTokens: number;
  /** How long the running turn has been under way. */
  readonly workingMs: number | undefined;
  readonly waiting: number;
  /** That turn waits for somebody's answer. */
  readonly asking: boolean;
  /** A command was given and has not been carried out yet. */
  readonly commanding: boolean;
  /** Answers are on their way to the terminal. */
  readonly delivering: boolean;
  /** The newest entry that a terminal can show. */
  readonly lastEntry: number;
}

export const keyOf = ({ account, chat, agent }: Window): string => sessionKey({ account, chat: { id: chat, type: 'dm' }, ...(agent !== undefined && { agent }) });

const tokensPerMessage = 10;
const bytesPerToken = 4;

const mostCommands = 100;

const factsOf = async (db: Reading, window: Window): Promise<Omit<Situation, 'lastEntry'>> => {
  const { account, chat } = window;
  const bound = await boundSession(db, keyOf(window));
  const session = bound === undefined ? undefined : await findSession(db, bound.sessionId);
  const delivering = await hasOpenDeliveries(db, outLane(account, chat));
  const asking = (await openQuestions(db, { account, chatId: chat })).some(({ turnId }) => turnId !== null);
  const commanding = (await openControlItems(db, mostCommands)).some(({ event }) => event.account === account && event.chat.id === chat);
  if (session === undefined) return { session, contextTokens: 0, workingMs: undefined, waiting: 0, asking, commanding, delivering };
  const lane = turnLane(session.id);
  const turn = await unfinishedTurn(db, lane);
  const size = await contextSize(db, session.id, mostMessages);
  return {
    session,
    contextTokens: session.prompt?.tokens ?? Math.ceil(size.sizeBytes / bytesPerToken) + size.messages * tokensPerMessage,
    workingMs: turn?.ageMs,
    waiting: await countWaiting(db, lane),
    asking,
    commanding,
    delivering,
  };
};

export const situationOf = async (store: Store, window: Window): Promise<Situation> => {
  const facts = await store.read((db) => factsOf(db, window));
  // Looked for last: what has been delivered is among the entries.
  const [last] = await accountData(store, window.account).tail({ stream: window.chat, limit: 1 });
  return { ...facts, lastEntry: last?.seq ?? 0 };
};
