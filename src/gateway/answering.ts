import type { TurnPlace } from '../agent/contract.ts';
import { memorySessionOf } from '../agent/memory/places.ts';
import type { Platform } from '../platforms/contract.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import type { Answering } from '../sessions/turn-parts.ts';
import type { Agents } from './agents/agents.ts';
import type { TurnHooks } from './hooks/turn-hooks.ts';

export interface AnsweringDeps {
  readonly agents: Agents;
  platform(account: string): Platform | undefined;
  /** Labels of the platforms that are configured. */
  platforms(): readonly string[];
  readonly hooks: Pick<TurnHooks, 'begins' | 'onCompressed'>;
}

const placeOf = ({ session, turn, last }: BegunTurn, platform: Platform | undefined): TurnPlace => ({
  agent: session.agent,
  platform: platform?.name ?? session.account,
  target: turn.target,
  ...(last?.event.chat.name !== undefined && { chatName: last.event.chat.name }),
  ...(last !== undefined && { sessionKey: last.sessionKey }),
  ...(last !== undefined && last.event.kind !== 'notice' && { sender: last.event.sender }),
});

/** Tools whose newest result stays through a summary, because their state is read from it. */
const keepResultsOf = ['todo'];

/** Puts together who answers a turn: the agent with its model, tools and memory, and what it is told about where it is. */
export const newAnswering =
  (deps: AnsweringDeps): ((begun: BegunTurn) => Promise<Answering>) =>
  async (begun) => {
    deps.hooks.begins(begun);
    const { session, turn } = begun;
    const { account } = turn.target;
    const platform = deps.platform(account);
    const runtime = await deps.agents.get(session.agent);
    const { settings, models, memory } = runtime;
    const { agent, toolBytes } = runtime.answererFor(account);
    const system = await runtime.promptFor(begun, { platform, connected: deps.platforms() });
    const place = placeOf(begun, platform);
    const remembering = memorySessionOf(session, place);
    const model = session.settings.model ?? models.main.model;
    return {
      agent,
      system,
      place,
      reader: { model, contextTokens: models.contextTokens(model), outputTokens: settings.model.max_output_tokens, systemBytes: Buffer.byteLength(system), toolBytes },
      compression: { complete: models.completeText('compression'), options: runtime.isOtherProgram ? { ...settings.compression, enabled: false } : settings.compression, keepResultsOf, redact: (text) => runtime.redact(text), onCompressed: (facts) => deps.hooks.onCompressed(begun, facts) },
      limits: { activityMs: settings.agent.gateway_timeout * 1000, totalMs: settings.agent.turn_timeout * 1000, maxIterations: settings.agent.max_turns },
      asyncDelivery: platform?.asyncDelivery ?? false,
      attended: platform?.asyncDelivery ?? false,
      folder: () => runtime.folderOf(session.id),
      recall: (said) => memory.recall(said, remembering),
      keepSaid: (tx, said) => memory.queueTurn(tx, { key: `turn:${turn.id}`, ...said }, remembering),
      onKept: () => memory.wake(),
    };
  };
