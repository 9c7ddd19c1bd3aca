import { z } from 'zod';
import { defineSection } from '../config/section.ts';
import type { InboundEvent } from '../core/message.ts';
import { lockLimit, readLimit, writeLimit } from '../store/limits.ts';
import type { Limit } from '../store/limits.ts';
import type { Decision } from '../store/messages/inbox.ts';
import type { Reading, Writing } from '../store/store.ts';

const options = z
  .object({
    enabled: z.boolean().describe('Stop listening to other bots in a chat for a while when they write too much there').default(true),
    max_messages: z.int().min(1).max(10_000).describe('How many messages of bots in one chat are heard within the window').default(20),
    window_seconds: z.number().min(1).max(86_400).describe('Length of the window').default(300),
    silence_seconds: z.number().min(1).max(86_400).describe('How long bots are not heard in that chat afterwards').default(600),
  })
  .meta({ shorthand: 'enabled' })
  .prefault({});

/** Two agents that answer each other would go on for ever, at somebody's cost. */
export const botLoopGuardSection = defineSection('bot_loop_guard', options, 'live');

export type BotLoopGuard = z.output<typeof options>;

/** What happens to the next message of a bot, and what is remembered of it. */
export interface BotVerdict {
  readonly heard: boolean;
  readonly decision: Decision;
  /** Undefined when nothing changes. */
  readonly keep?: { readonly count: number; readonly forMs: number };
}

const step = 'bot loop guard';

/** Decides about one more message of a bot in a chat from what is remembered of those before it. The last one that is heard begins the silence. */
export const judgeBot = (guard: BotLoopGuard, before: Limit): BotVerdict => {
  const count = before.leftMs > 0 ? before.count : 0;
  const max = guard.max_messages;
  if (count >= max) return { heard: false, decision: { step, verdict: `silent for another ${Math.ceil(before.leftMs / 1000)} s, after ${max} messages of bots` } };
  const forMs = count + 1 >= max ? guard.silence_seconds * 1000 : count === 0 ? guard.window_seconds * 1000 : before.leftMs;
  return { heard: true, decision: { step, verdict: `heard, ${count + 1} of ${max}` }, keep: { count: count + 1, forMs } };
};

const scopeOf = ({ account, chat }: Pick<InboundEvent, 'account' | 'chat'>): string => `bots:${account}:${chat.id}`;

/** Counts a message that a bot was allowed to send, across restarts and for all processes; undefined when people speak or nothing is guarded. */
export const hearBot = async (tx: Writing, event: InboundEvent, guard: BotLoopGuard): Promise<BotVerdict | undefined> => {
  if (!event.sender.isBot || !guard.enabled) return undefined;
  await lockLimit(tx, scopeOf(event));
  const verdict = judgeBot(guard, await readLimit(tx, scopeOf(event)));
  if (verdict.keep !== undefined) await writeLimit(tx, scopeOf(event), verdict.keep);
  return verdict;
};

/** The same without counting, for whoever asks what would happen. */
export const foreseeBot = async (db: Reading, event: InboundEvent, guard: BotLoopGuard): Promise<BotVerdict | undefined> =>
  event.sender.isBot && guard.enabled ? judgeBot(guard, await readLimit(db, scopeOf(event))) : undefined;
