import { z } from 'zod';
import type { ChangeOutcome, MemoryChange, MemoryTarget } from '../memory/entries.ts';
import type { Drifted } from '../memory/memory-file.ts';
import type { Tool, ToolContext } from './contract.ts';
import { ToolError } from './contract.ts';
import { defineTool } from './define-tool.ts';

/** How a change of the memory ended. */
export type MemoryChanged =
  | { readonly type: 'done'; readonly usage: string }
  /** A person has to say yes first. */
  | { readonly type: 'proposed'; readonly id: number }
  | { readonly type: 'duplicate' }
  | { readonly type: 'refused'; readonly outcome: Exclude<ChangeOutcome, { type: 'changed' | 'duplicate' }> | Drifted; readonly entries: readonly string[]; readonly limitChars: number }
  /** It must not be kept: it contains a secret or speaks like an attacker. */
  | { readonly type: 'unfit'; readonly reason: string }
  | { readonly type: 'not_kept' }
  | { readonly type: 'too_many_proposals' };

export interface WantedChange {
  readonly target: MemoryTarget;
  readonly change: MemoryChange;
}

/** What the tool needs of the agent's memory. */
export type ChangeMemory = (wanted: WantedChange, context: ToolContext, signal: AbortSignal) => Promise<MemoryChanged>;

const args = z.object({
  action: z.enum(['add', 'replace', 'remove']).describe('add a new entry, replace one, or remove one.'),
  target: z.enum(['memory', 'user']).default('memory').describe('memory: your own notes about the work, the place and how things are done. user: who the person is and what they prefer.'),
  content: z.string().optional().describe('The new entry: one fact, short. For add and replace.'),
  old_text: z.string().optional().describe('Words that only the entry to replace or remove contains. For replace and remove.'),
});

const description = `Keeps short facts beyond this conversation. They are shown to you at the start of every later one, so keep what will still matter then: what people prefer or correct, how their things are set up, what you learned the hard way. Not what happened in one task, not what is easy to look up, never passwords or keys. The memory is small: merge entries that belong together, remove what is outdated.`;

const changeOf = ({ action, content, old_text }: z.output<typeof args>): MemoryChange => {
  if (action === 'add') return { action, content: required(content, 'content', action) };
  if (action === 'remove') return { action, oldText: required(old_text, 'old_text', action) };
  return { action, oldText: required(old_text, 'old_text', action), content: required(content, 'content', action) };
};

const required = (value: string | undefined, name: string, action: string): string => {
  if (value !== undefined && value.trim() !== '') return value;
  throw new ToolError('bad_arguments', `\`${action}\` needs \`${name}\`.`);
};

const listed = (entries: readonly string[]): string => entries.map((entry) => `- ${entry}`).join('\n');

const refusal = ({ outcome, entries, limitChars }: Extract<MemoryChanged, { type: 'refused' }>): ToolError => {
  switch (outcome.type) {
    case 'no_match':
      return new ToolError('bad_arguments', `No entry contains that text. The entries:\n${listed(entries) || '(none)'}`);
    case 'several_match':
      return new ToolError('bad_arguments', `Several entries contain that text. Use words that only one of them has:\n${listed(outcome.matches)}`);
    case 'too_long':
      return new ToolError('failed', `Not saved: it would take ${outcome.sizeChars} of ${limitChars} characters. First make room: merge entries that belong together with \`replace\`, or \`remove\` what no longer matters; then try again. The entries:\n${listed(entries)}`);
    case 'empty':
      return new ToolError('bad_arguments', 'An entry needs text.');
    case 'has_separator':
      return new ToolError('bad_arguments', 'An entry cannot contain a line with only §: that is what separates entries.');
    case 'drifted':
      return new ToolError('failed', `Not saved: the file was changed by somebody, and ${outcome.reason}. Nothing was overwritten; a copy is in ${outcome.copy}. Tell the person that the file has to be tidied up.`);
    default:
      throw outcome satisfies never;
  }
};

const mostFailures = 3;
const mostTurns = 200;

/** Counts how often a turn has failed to make room, so that no turn is spent on that. */
const newStrikes = (): { add(turnId: string): number } => {
  const counts = new Map<string, number>();
  return {
    add(turnId) {
      const count = (counts.get(turnId) ?? 0) + 1;
      if (counts.size >= mostTurns) counts.delete(counts.keys().next().value ?? '');
      counts.set(turnId, count);
      return count;
    },
  };
};

/** The tool with which the agent keeps facts beyond a conversation. */
export const memoryTool = (change: ChangeMemory): Tool => {
  const strikes = newStrikes();
  return defineTool({
    name: 'memory',
    description,
    args,
    async run(given, context, signal) {
      const changed = await change({ target: given.target, change: changeOf(given) }, context, signal);
      switch (changed.type) {
        case 'done':
          return `Saved to ${given.target}. ${changed.usage}.`;
        case 'proposed':
          return `Proposed as number ${changed.id}. It is kept once a person says \`/memory approve ${changed.id}\`; go on without waiting.`;
        case 'duplicate':
          return 'Not added: it is there already.';
        case 'refused': {
          const tooOften = changed.outcome.type === 'too_long' && strikes.add(context.turnId) >= mostFailures;
          throw tooOften ? new ToolError('failed', 'Not saved: there is still no room. Leave the memory alone for this turn and go on with what the person wants.') : refusal(changed);
        }
        case 'unfit':
          throw new ToolError('failed', `Not saved: it ${changed.reason}. Memories are read in every conversation, so such text is not kept.`);
        case 'not_kept':
          throw new ToolError('unavailable', given.target === 'user' ? 'No profile of a person is kept here.' : 'No memory is kept here.');
        case 'too_many_proposals':
          throw new ToolError('failed', 'Not saved: too many memories are waiting for a yes already. Ask the person to look at `/memory pending`.');
        default:
          throw changed satisfies never;
      }
    },
  });
};
