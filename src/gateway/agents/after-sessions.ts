import { lookAfterSessionEnds } from '../../agent/memory/session-end.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { mainAgent } from '../../routing/select-agent.ts';
import type { Store } from '../../store/store.ts';
import type { GatewaySettings } from '../settings.ts';
import type { Agents } from './agents.ts';

export interface AfterSessionsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly agents: Agents;
  readonly signal: AbortSignal;
  settings(): GatewaySettings;
}

const everyMs = 30_000;

/** Lets each agent look through conversations that have ended for what is worth keeping. Nobody waits for it. */
export const lookAfterSessions = async (deps: AfterSessionsDeps): Promise<void> => {
  const { store, clock, log, agents, signal } = deps;
  while (await slept(clock, everyMs, signal)) {
    for (const id of [mainAgent, ...Object.keys(deps.settings().agents)]) {
      try {
        const runtime = await agents.get(id);
        await lookAfterSessionEnds({ agent: id, options: runtime.settings.memory, store, log, memory: runtime.memory, agentWith: (tools) => runtime.agentWith(tools) }, signal);
      } catch (error) {
        log.error({ err: error, agent: id }, 'memory.sessions_not_looked_after');
      }
    }
  }
};
