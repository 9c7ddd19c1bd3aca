import type { EarlierMessage, InboundEvent, Sender } from '../core/message.ts';
import type { AccountOptions } from '../platforms/account-options.ts';
import type { Decision } from '../store/messages/inbox.ts';

export interface Shown {
  readonly event: InboundEvent;
  /** What `hermes trace` tells of it; empty where nothing was said before. */
  readonly decisions: readonly Decision[];
}

const shownStep = 'earlier messages of the thread';

/**
 * What was said before somebody called us reaches the agent under the same rules as what is said to us: words of people who may not speak here are
 * taken out and counted, unless the owner lets everybody's be shown.
 */
export const hideEarlier = async (event: InboundEvent, { thread_context }: Pick<AccountOptions, 'thread_context'>, maySpeak: (sender: Sender) => Promise<boolean>): Promise<Shown> => {
  const { earlier } = event;
  if (earlier === undefined || earlier.length === 0) return { event, decisions: [] };
  if (thread_context === 'everyone') return { event, decisions: [{ step: shownStep, verdict: `all ${earlier.length} shown, by thread_context` }] };
  const judged = new Map<string, boolean>();
  const shown: EarlierMessage[] = [];
  for (const message of earlier) {
    const { sender } = message;
    if (sender === undefined) continue;
    const who = sender === 'self' ? sender : `${sender.isBot ? 'bot' : 'person'} ${sender.id}`;
    if (sender !== 'self' && !judged.has(who)) judged.set(who, await maySpeak(sender));
    if (sender === 'self' || judged.get(who) === true) shown.push(message);
  }
  const hidden = earlier.length - shown.length;
  const verdict = `${shown.length} shown, ${hidden} of people who may not speak here hidden`;
  return { event: hidden === 0 ? event : { ...event, earlier: shown, earlierHidden: hidden }, decisions: [{ step: shownStep, verdict }] };
};
