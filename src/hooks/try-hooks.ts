import type { Clock } from '../lib/clock.ts';
import { consult } from './consult.ts';
import type { Asked, Consulted, Decider, HookDecision, Matter } from './consult.ts';
import { eventFamily, hookEvents } from './events.ts';
import type { CommandContext, InboundContext, OutboundContext, SelectAgentContext } from './events.ts';
import type { HookSet } from './load-hooks.ts';
import { LoadedHook } from './loaded-hook.ts';
import { agentMatter, commandMatter, inboundMatter, outboundMatter } from './matters.ts';
import type { OutgoingWebhook } from './outgoing-webhook.ts';
import { decidersOf, observersOf } from './select-hooks.ts';

/** How one hook did. */
export interface Trial {
  readonly hook: string;
  readonly role: 'decides' | 'watches';
  readonly ms: number;
  readonly answer?: unknown;
  readonly problem?: string;
}

export interface Trials {
  readonly event: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly trials: readonly Trial[];
  /** What would be in the trace of a message. */
  readonly decisions: readonly HookDecision[];
  /** What the decisions come to; absent where nothing is decided. */
  readonly outcome?: unknown;
}

/** What an event would tell, with what is given put over it. Undefined for what is no event. */
export const sampleContext = (event: string, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined => {
  const family = eventFamily(event);
  if (family === undefined) return undefined;
  return { ...hookEvents[family].sample, ...(family === 'command:*' && { command: event.slice('command:'.length), raw_command: event.slice('command:'.length) }), ...given };
};

const timed = async (hook: Pick<Trial, 'hook' | 'role'>, clock: Clock, work: () => Promise<Asked>): Promise<{ readonly asked: Asked; readonly trial: Trial }> => {
  const startedMs = clock.now();
  const asked = await work();
  const ended = { ...hook, ms: clock.now() - startedMs };
  return { asked, trial: asked.type === 'answered' ? { ...ended, answer: asked.value } : { ...ended, problem: asked.problem } };
};

const noTimeLimitMs = 600_000;

const tell = (observer: LoadedHook | OutgoingWebhook, event: string, context: unknown): Promise<Asked> =>
  observer instanceof LoadedHook
    ? observer.ask(event, context, noTimeLimitMs)
    : observer.tryOnce(event, context, AbortSignal.timeout(noTimeLimitMs)).then((problem) => (problem === undefined ? { type: 'answered', value: null } : { type: 'failed', problem }));

/** Contexts of one event are as that event tells them, or as the owner has made them up. */
const consultAbout = (deciders: readonly Decider[], at: { event: string; context: object; clock: Clock }): Promise<Consulted<unknown>> => {
  const ask = <State, Answer extends object>(matter: Matter<State, Answer>): Promise<Consulted<unknown>> => consult(deciders, matter, at.clock);
  switch (at.event) {
    case 'message:inbound':
      return ask(inboundMatter(at.context as InboundContext));
    case 'message:outbound':
      return ask(outboundMatter(at.context as OutboundContext));
    case 'select_agent':
      return ask(agentMatter(at.context as SelectAgentContext));
    default:
      return ask(commandMatter(at.context as CommandContext));
  }
};

/** Lets an event happen for the hooks of a set alone: those who decide one after another, then those who watch. */
export const tryHooks = async (set: HookSet, at: { event: string; context: Readonly<Record<string, unknown>>; clock: Clock }): Promise<Trials> => {
  const { event, context, clock } = at;
  const agent = typeof context['agent_id'] === 'string' ? context['agent_id'] : null;
  const trials: Trial[] = [];
  const recording = (hook: LoadedHook): Decider => ({
    id: hook.id,
    onFailure: hook.onFailure,
    async ask(name, told, limitMs) {
      const { asked, trial } = await timed({ hook: hook.id, role: 'decides' }, clock, () => hook.ask(name, told, limitMs));
      trials.push(trial);
      return asked;
    },
    refuse: (problem) => void trials.push({ ...(trials.pop() ?? { hook: hook.id, role: 'decides', ms: 0 }), problem }),
  });
  const deciders = decidersOf(set, event, agent ?? 'main').map(recording);
  const consulted = deciders.length === 0 ? undefined : await consultAbout(deciders, at);
  for (const { observer, agent: about } of observersOf(set, event, agent)) {
    const { trial } = await timed({ hook: observer.id, role: 'watches' }, clock, () => tell(observer, event, { ...context, agent_id: about }));
    trials.push(trial);
  }
  return { event, context, trials, decisions: consulted?.decisions ?? [], ...(consulted !== undefined && { outcome: consulted.state }) };
};
