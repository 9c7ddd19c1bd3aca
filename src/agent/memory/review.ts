import type { Usage } from '../../core/transcript.ts';
import { addUsage, noUsage } from '../../core/transcript.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import type { ExitReason } from '../../core/turn.ts';
import type { Agent, TurnPlace } from '../contract.ts';
import type { ToolSet } from '../tools/contract.ts';
import { toolSet } from '../tools/tool-set.ts';
import { markUntrusted } from '../untrusted-text.ts';
import type { AgentMemory } from './agent-memory.ts';
import { withoutRecall } from './recall.ts';

export interface ReviewDeps {
  readonly memory: AgentMemory;
  /** An agent that has these tools and no others. */
  agentWith(tools: ToolSet): Agent;
}

/** A conversation to look through. */
export interface Reviewed {
  readonly sessionId: string;
  readonly userId: string | null;
  readonly place: TurnPlace;
  readonly transcript: readonly TranscriptMessage[];
}

export interface ReviewOutcome {
  readonly reason: ExitReason;
  /** How many changes of the memory were made or proposed. */
  readonly changes: number;
  readonly usage: Usage;
}

const limits = { activityMs: 60_000, totalMs: 180_000, maxIterations: 5 } as const;
const maxMessageChars = 2000;
const maxTranscriptChars = 40_000;

const instructions = `A conversation of yours has ended. Look through it once and keep what will matter in later conversations, with the tool \`memory\`.

Worth keeping: what the person prefers, asked for or corrected; lasting facts about them and their surroundings; how something has to be done here that you had to find out.
Not worth keeping: what was done, said or decided for this one task; what is easy to look up; secrets of any kind; what is noted already.

Prefer adding over replacing. Replace or remove an entry only when the conversation shows that it is wrong, or to make room. Nobody reads your answer: when there is nothing to keep, say "nothing" and stop.`;

const speakers = { user: 'Person', assistant: 'You' } as const;

const shortened = (text: string): string => (text.length <= maxMessageChars ? text : `${text.slice(0, maxMessageChars * 0.7)} […] ${text.slice(-maxMessageChars * 0.2)}`);

/** What was said, newest part first to be kept when it is too long. Tool calls and their results are left out. */
export const reviewText = (transcript: readonly TranscriptMessage[]): string => {
  const lines: string[] = [];
  let room = maxTranscriptChars;
  for (const { role, content } of transcript.toReversed()) {
    if (role === 'tool' || content.trim() === '') continue;
    const line = `${speakers[role]}: ${shortened(withoutRecall(content).trim())}`;
    room -= line.length;
    if (room < 0) break;
    lines.unshift(line);
  }
  return lines.join('\n\n').toWellFormed();
};

const kept = async ({ memory }: ReviewDeps, of: Reviewed): Promise<string> => {
  const owner = { account: of.place.target.account, ...(of.userId !== null && { userId: of.userId }) };
  const blocks: string[] = [];
  for (const target of ['memory', 'user'] as const) {
    const now = await memory.entries(target, owner);
    if (now !== undefined) blocks.push(`## ${target} (${now.usage})\n${now.entries.map((entry) => `- ${entry}`).join('\n') || '(empty)'}`);
  }
  return blocks.join('\n\n');
};

/**
 * Has a model look through an ended conversation for what is worth keeping. It has the tool `memory` and nothing else, a few steps and a few minutes. Nothing of it
 * is shown or stored but what the tool writes.
 */
export const reviewForMemory = async (deps: ReviewDeps, of: Reviewed, signal: AbortSignal): Promise<ReviewOutcome> => {
  const text = reviewText(of.transcript);
  const agent = deps.agentWith(toolSet(deps.memory.tools.filter(({ definition }) => definition.name === 'memory')));
  let usage = noUsage;
  let changes = 0;
  let reason: ExitReason = 'internal_error';
  const events = agent.run(
    {
      sessionId: of.sessionId,
      turnId: `review:${of.sessionId}`,
      system: `${instructions}\n\nWhat is noted now:\n\n${await kept(deps, of)}`,
      transcript: [{ role: 'user', content: `${markUntrusted('the conversation', text)}\n\nKeep what is worth keeping.` }],
      steering: () => [],
      asyncDelivery: false,
      limits,
      place: of.place,
      ask: async () => ({ type: 'unattended' }),
    },
    signal,
  );
  for await (const event of events) {
    if (event.type === 'usage') usage = addUsage(usage, event.usage);
    if (event.type === 'tool_finished' && event.ok) changes += 1;
    if (event.type === 'end') reason = event.reason;
  }
  return { reason, changes, usage };
};
