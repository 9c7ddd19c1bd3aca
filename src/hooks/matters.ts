import { readAgentAnswer, readCommandAnswer, readFilterAnswer } from './answers.ts';
import type { AgentAnswer, CommandAnswer, FilterAnswer } from './answers.ts';
import type { Matter } from './consult.ts';
import type { CommandContext, InboundContext, OutboundContext, SelectAgentContext } from './events.ts';

/** What hooks say about a command. */
export type CommandVerdict =
  | { readonly type: 'allow' }
  | { readonly type: 'deny' | 'handled'; readonly by: string; readonly message: string | undefined }
  | { readonly type: 'rewrite'; readonly by: string; readonly text: string };

/** What hooks make of a text. `message` is told to whoever wrote it. */
export type TextVerdict = { readonly type: 'pass'; readonly text: string } | { readonly type: 'drop'; readonly by: string; readonly reason: string; readonly message: string | undefined };

const allow: CommandVerdict = { type: 'allow' };

/** The first hook with an opinion decides. */
export const commandMatter = (context: CommandContext): Matter<CommandVerdict, CommandAnswer> => ({
  event: `command:${context.command}`,
  start: allow,
  contextOf: () => context,
  read: readCommandAnswer,
  judge(_state, answer, by) {
    switch (answer.decision) {
      case 'allow':
        return { state: allow, verdict: 'allowed', settled: true };
      case 'deny':
        return { state: { type: 'deny', by, message: answer.message }, verdict: 'denied', settled: true };
      case 'handled':
        return { state: { type: 'handled', by, message: answer.message }, verdict: 'handled by the hook', settled: true };
      case 'rewrite': {
        const name = answer.command_name.replace(/^\//, '');
        return { state: { type: 'rewrite', by, text: `/${name} ${answer.raw_args}`.trim() }, verdict: `rewritten to /${name}`, settled: true };
      }
      default:
        throw answer satisfies never;
    }
  },
  block: (_state, by) => ({ state: { type: 'deny', by, message: undefined }, verdict: 'denied', settled: true }),
});

const judgeText = (state: TextVerdict, answer: FilterAnswer, by: string) => {
  switch (answer.decision) {
    case 'pass':
      return { state, verdict: 'passed', settled: false };
    case 'drop': {
      const reason = answer.reason ?? 'no reason given';
      return { state: { type: 'drop' as const, by, reason, message: answer.message }, verdict: `dropped, ${reason}`, settled: true };
    }
    case 'replace':
      return { state: { type: 'pass' as const, text: answer.text }, verdict: `replaced the text${answer.reason === undefined ? '' : `, ${answer.reason}`}`, settled: false };
    default:
      throw answer satisfies never;
  }
};

/** Every hook sees the text as the one before it has left it. */
const textMatter = (event: 'message:inbound' | 'message:outbound', context: InboundContext | OutboundContext): Matter<TextVerdict, FilterAnswer> => ({
  event,
  start: { type: 'pass', text: context.text },
  contextOf: (state) => (state.type === 'pass' ? { ...context, text: state.text } : context),
  read: readFilterAnswer,
  judge: judgeText,
  block: (_state, by) => ({ state: { type: 'drop', by, reason: 'the hook gave no answer', message: undefined }, verdict: 'dropped', settled: true }),
});

export const inboundMatter = (context: InboundContext): Matter<TextVerdict, FilterAnswer> => textMatter('message:inbound', context);
export const outboundMatter = (context: OutboundContext): Matter<TextVerdict, FilterAnswer> => textMatter('message:outbound', context);

/** The first hook that names an agent decides; whether there is such an agent is the caller's to say. */
export const agentMatter = (context: SelectAgentContext): Matter<{ readonly agent?: string }, AgentAnswer> => ({
  event: 'select_agent',
  start: {},
  contextOf: () => context,
  read: readAgentAnswer,
  judge: (_state, { agent }) => ({ state: { agent }, verdict: `says ${agent}`, settled: true }),
});
