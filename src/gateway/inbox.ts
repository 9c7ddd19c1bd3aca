import { hearBot } from '../access/bot-loop-guard.ts';
import type { InboundEvent } from '../core/message.ts';
import type { Accepted } from '../platforms/contract.ts';
import { routedAgent } from '../routing/select-agent.ts';
import { isKnownEvent } from '../store/messages/inbox.ts';
import type { Reading, Writing } from '../store/store.ts';
import { admit, turnAway } from './admit.ts';
import type { Arrival, InboxDeps, Outcome } from './arrival.ts';
import { ConversationGone, Duplicate } from './arrival.ts';
import { deny } from './deny.ts';
import { findArranged, withSkills } from './find-arranged.ts';
import { hideEarlier } from './hide-earlier.ts';
import { judge } from './judge.ts';
import { whoSaid } from './who-said.ts';
import { placeOfEvent } from './hooks/contexts.ts';
import { mayOvertake, screenArrival, tellReaction } from './hooks/screen-arrival.ts';
import type { Screened } from './hooks/screen-arrival.ts';
import { tellSessionChanges } from './hooks/session-changes.ts';

/** Kinds that are no part of a conversation, and messages that are not meant for us. */
const irrelevance = (event: InboundEvent): string | undefined => {
  if (event.kind === 'reaction' || event.kind === 'join') return `${event.kind} events start no turn`;
  if (!event.addressed) return 'not addressed to us';
  if (event.text.trim() === '' && event.media.length === 0 && event.location === undefined) return 'nothing in it';
  return undefined;
};

/** The text of a pressed button is what it stands for. */
const withButtonText = (event: InboundEvent): InboundEvent => (event.kind === 'button' && event.button !== undefined ? { ...event, text: event.button.data } : event);

/**
 * The way in: authorize, route, key, store. Resolves when the event is durable or was dropped on purpose; only then may an adapter
 * acknowledge. Rejects when it could not be stored.
 */
export const acceptEvent = async (deps: InboxDeps, arrived: InboundEvent): Promise<Accepted> => {
  const event = deps.continuations.join(arrived);
  const accepted = await acceptWhole(deps, event);
  if (accepted === 'stored' && event.addressed) deps.continuations.began(event);
  return accepted;
};

const acceptWhole = async (deps: InboxDeps, arrived: InboundEvent): Promise<Accepted> => {
  const event = await findArranged(deps, withButtonText(arrived));
  const known = deps.account(event.account);
  if (known === undefined) throw new Error(`an event arrived for ${event.account}, which is not configured`);
  const rules = { known, access: deps.settings().access, read: <T>(look: (db: Reading) => Promise<T>) => deps.store.read(look) };
  const verdict = await judge(event, rules);
  const arrival: Arrival = { event, ...known, verdict, agent: routedAgent(deps.settings(), event) };
  if (!verdict.allowed) return settle(deps, arrival, (tx) => deny(tx, arrival));
  tellReaction(deps, arrival);
  const reason = irrelevance(event);
  if (reason !== undefined) return report(deps, event, { accepted: 'skipped', reason });
  // A mention now says nothing about what a bot has said before.
  const shown = await hideEarlier(event, known.common, async (sender) => (await judge({ ...event, sender, mentioned: false }, rules)).allowed);
  return screened(deps, { ...arrival, event: shown.event, verdict: { ...verdict, decisions: [...verdict.decisions, ...shown.decisions] } });
};

/** Hooks come behind the authorization and before everything else. However long they think, events of a chat keep their order. */
const screened = (deps: InboxDeps, arrived: Arrival): Promise<Accepted> => {
  const go = async (): Promise<Accepted> => {
    const found = await screenArrival(deps, arrived);
    if (found === undefined) return report(deps, arrived.event, { accepted: 'duplicate', reason: 'delivered before' });
    const arrival = await withSkills(deps, found.arrival);
    return settle(deps, arrival, (tx) => hear(deps, tx, { ...found, arrival }));
  };
  const { account, chat } = arrived.event;
  return mayOvertake(deps, arrived) ? go() : deps.order.run(`${account}:${chat.id}`, go);
};

/** Bots that are allowed are heard as long as they do not write too much. */
const hear = async (deps: InboxDeps, tx: Writing, { arrival, stopped }: Screened): Promise<Outcome> => {
  const bot = await hearBot(tx, arrival.event, deps.settings().bot_loop_guard);
  const judged: Arrival = bot === undefined ? arrival : { ...arrival, verdict: { allowed: bot.heard, by: bot.heard ? arrival.verdict.by : bot.decision.step, decisions: [...arrival.verdict.decisions, bot.decision] } };
  if (bot !== undefined && !bot.heard) return deny(tx, judged);
  return stopped === undefined ? admit(deps, tx, judged) : turnAway(tx, judged, stopped);
};

const report = (deps: InboxDeps, event: InboundEvent, outcome: Outcome): Accepted => {
  const line = { account: event.account, chat: event.chat.id, user: event.sender.id, kind: event.kind, native_id: event.nativeId, outcome: outcome.accepted, reason: outcome.reason };
  if (outcome.accepted === 'stored') deps.log.debug({ ...line, text: event.text }, 'inbound.accepted');
  else deps.log.info(line, 'inbound.skipped');
  deps.onAccepted?.(event, outcome);
  return outcome.accepted;
};

/** Conversations are not removed as fast as that. */
const mostTries = 5;

const decided = async (deps: InboxDeps, event: InboundEvent, decide: (tx: Writing) => Promise<Outcome>): Promise<Outcome> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await deps.store.write(async (tx) => {
        if (await isKnownEvent(tx, { account: event.account, chatId: event.chat.id, nativeId: event.nativeId, kind: event.kind })) throw new Duplicate();
        return decide(tx);
      });
    } catch (error) {
      if (!(error instanceof ConversationGone) || tries === mostTries) throw error;
    }
  }
};

/** One transaction for the whole decision; a redelivery that slips through side by side undoes it. */
const settle = async (deps: InboxDeps, arrival: Arrival, decide: (tx: Writing) => Promise<Outcome>): Promise<Accepted> => {
  const { event } = arrival;
  try {
    const outcome = await decided(deps, event, decide);
    if (outcome.sessions !== undefined) tellSessionChanges(deps.hooks, { ...placeOfEvent(event, arrival.agent.id), session_key: outcome.sessions.sessionKey }, outcome.sessions.changes);
    if (outcome.act !== undefined) deps.audit?.({ by: whoSaid(event), ...outcome.act });
    // Waited for, so that what follows in the chat finds the conversation as the command has left it.
    if (outcome.controlId !== undefined) await deps.onControl(outcome.controlId);
    return report(deps, event, outcome);
  } catch (error) {
    if (error instanceof Duplicate) return report(deps, event, { accepted: 'duplicate', reason: 'delivered before' });
    throw error;
  }
};
