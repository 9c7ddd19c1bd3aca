import { replyTarget } from '../core/message.ts';
import { targetText } from '../delivery/directory.ts';
import { slept } from '../lib/clock.ts';
import { placesOf } from '../store/sessions/bound-places.ts';
import { failHandoff, getHandoffState, requestHandoff } from '../store/sessions/handoffs.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Writing } from '../store/store.ts';
import type { AfterCommit, Command, CommandCall } from './contract.ts';
import { mine } from './own-sessions.ts';

/** How long to wait for a gateway that takes it. */
const unclaimedMs = 60_000;
const lookMs = 250;

const usage = 'Usage: /handoff <platform>, for example `/handoff telegram`, `/handoff terminal` or `/handoff telegram:-100123:7`.';

const nobody = 'no gateway took it within 60 seconds. Is one running? `hermes status` tells';

/** Resolves when the conversation has moved or stays; the place it has left is told by whoever moved it. */
const untilSettled = async (sessionId: string, { store, clock, signal }: AfterCommit): Promise<string> => {
  const startedMs = clock.now();
  let changed = new AbortController();
  using _listening = store.listen('handoff', (id) => {
    if (id === sessionId) changed.abort();
  });
  for (;;) {
    const found = await store.read((db) => getHandoffState(db, sessionId));
    if (found === null || found.state === null || found.state === 'completed') return '';
    if (found.state === 'failed') return `⚠️ The conversation stays here: ${found.error ?? 'it could not be moved'}.`;
    const late = found.state === 'pending' && clock.now() - startedMs >= unclaimedMs;
    if (late && (await store.write((tx) => failHandoff(tx, sessionId, nobody, ['pending'])))) return `⚠️ The conversation stays here: ${nobody}.`;
    await slept(clock, lookMs, AbortSignal.any([signal, changed.signal]));
    signal.throwIfAborted();
    changed = new AbortController();
  }
};

/** Whoever speaks in the new place goes on with the conversation, and what stood there gives way: for people who decide only for themselves it must be theirs. */
const mayGoThere = async (tx: Writing, call: CommandCall): Promise<boolean> => {
  if (call.access.mayAdminister) return true;
  const { account, userId } = mine(call);
  return (await placesOf(tx, { account, userId })).some((place) => targetText(place) === call.args);
};

export const handoff: Command = {
  name: 'handoff',
  aliases: [],
  category: 'Session',
  description: 'Go on with this conversation in another place',
  args: '<platform[:chat[:thread]] | terminal>',
  whileRunning: 'refused',
  async run(tx, call) {
    if (call.args === '') return usage;
    const session = await findSession(tx, call.sessionId);
    if (session === undefined || session.messageCount === 0) return 'There is nothing to hand over yet.';
    if (!(await mayGoThere(tx, call))) return '⛔ That may be somebody else’s place, and only admins may hand a conversation over to it. Yours are those where you talk to me yourself, by their ids, such as `telegram:-100123:7`.';
    if (!(await requestHandoff(tx, call.sessionId, { destination: call.args, origin: replyTarget(call.event) }))) return '⏳ This conversation is being handed over already.';
    call.after((after) => untilSettled(call.sessionId, after));
    return '';
  },
};
