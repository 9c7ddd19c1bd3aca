import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, TurnPlace } from '../agent/contract.ts';
import { newModelLists } from '../agent/models/model-lists.ts';
import { newModels } from '../agent/models/models.ts';
import type { Models } from '../agent/models/models.ts';
import { systemPrompt } from '../agent/prompt.ts';
import { currentTime } from '../agent/tools/current-time.ts';
import { toolSet } from '../agent/tools/tool-set.ts';
import { newAgent } from '../agent/turn.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import type { Answering } from '../sessions/run-turn.ts';
import type { GatewaySettings } from './settings.ts';

export interface AnsweringDeps {
  readonly home: string;
  readonly mediaFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
  settings(): GatewaySettings;
  platform(account: string): Platform | undefined;
  /** Labels of the platforms that are configured. */
  platforms(): readonly string[];
}

/** The owner's own words about who the agent is, if the home has them. Read once a turn, at once: it is small and may be edited at any time. */
const readIdentity = (home: string): string | undefined => {
  const path = join(home, 'SOUL.md');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

const placeOf = ({ session, turn, last }: BegunTurn, platform: Platform | undefined): TurnPlace => ({
  agent: session.agent,
  platform: platform?.name ?? session.account,
  target: turn.target,
  ...(last?.event.chat.name !== undefined && { chatName: last.event.chat.name }),
  ...(last !== undefined && { sessionKey: last.sessionKey }),
  ...(last !== undefined && last.event.kind !== 'notice' && { sender: last.event.sender }),
});

const windowPatienceMs = 5000;

/** Puts together who answers a turn: the agent with its model and tools, and what it is told about where it is. */
export const newAnswering = (deps: AnsweringDeps): ((begun: BegunTurn) => Promise<Answering>) => {
  const tools = toolSet([currentTime]);
  const lists = newModelLists({ home: deps.home, clock: deps.clock, log: deps.log, fetch });
  let built: { settings: GatewaySettings; models: Models; agent: Agent } | undefined;

  const agentFor = (settings: GatewaySettings): { readonly models: Models; readonly agent: Agent } => {
    if (built?.settings !== settings) {
      const { max_retries: maxRetries, max_output_tokens: maxOutputTokens } = settings.model;
      const models = newModels(settings, { clock: deps.clock, log: deps.log, mediaFolder: deps.mediaFolder, lists });
      const agent = newAgent({ ...models.main, fallbacks: models.fallbacks, tools, clock: deps.clock, log: deps.log, maxRetries, ...(maxOutputTokens !== undefined && { maxOutputTokens }) });
      built = { settings, models, agent };
      void models.lookUpWindow(AbortSignal.timeout(windowPatienceMs));
    }
    return built;
  };

  return async (begun) => {
    const settings = deps.settings();
    const { model, agent } = settings;
    const { models, agent: answers } = agentFor(settings);
    const platform = deps.platform(begun.turn.target.account);
    const identity = readIdentity(deps.home);
    const system = systemPrompt({
      ...(identity !== undefined && { identity }),
      ...(platform !== undefined && {
        hints: platform.hints,
        session: {
          platformLabel: platform.label,
          chatType: begun.session.chatType,
          shared: begun.session.userId === null,
          ...(begun.session.userId !== null && { userId: begun.session.userId }),
          connected: deps.platforms(),
          homes: [],
          targets: [],
        },
      }),
    });
    return {
      agent: answers,
      system,
      context: { contextTokens: models.contextTokens(begun.session.settings.model), outputTokens: model.max_output_tokens },
      limits: { activityMs: agent.gateway_timeout * 1000, totalMs: agent.turn_timeout * 1000, maxIterations: agent.max_turns },
      asyncDelivery: platform?.asyncDelivery ?? false,
      place: placeOf(begun, platform),
      attended: platform?.asyncDelivery ?? false,
    };
  };
};
