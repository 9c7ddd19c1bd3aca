import type { Logger } from '../../lib/logger.ts';
import { isAgent, mainAgent } from '../../routing/select-agent.ts';
import type { GatewaySettings } from '../settings.ts';
import { AgentRuntime } from './agent-runtime.ts';
import type { RuntimeDeps } from './agent-runtime.ts';
import type { SharedParts } from './shared-parts.ts';

export interface AgentsDeps extends Omit<RuntimeDeps, 'id' | 'variable'> {
  readonly log: Logger;
  readonly shared: SharedParts;
  settings(): GatewaySettings;
  /** A variable from an agent's own `.env`. */
  variable(agent: string, name: string): string | undefined;
}

/** The agents of this gateway. Each is opened when it has its first turn; none can reach what belongs to another. */
export class Agents {
  readonly #deps: AgentsDeps;
  readonly #open = new Map<string, Promise<AgentRuntime>>();

  constructor(deps: AgentsDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.#deps.shared.start();
    // Opened at once, so that a terminal that cannot work is said at the start and not in a conversation.
    await this.get(mainAgent);
  }

  async stop(): Promise<void> {
    for (const opening of this.#open.values()) await (await opening).stop();
    await this.#deps.shared.stop();
  }

  /** An agent that the configuration does not know any more still ends the conversations that it had. */
  get(id: string): Promise<AgentRuntime> {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const opening = AgentRuntime.open({ ...this.#deps, id, variable: (name) => this.#deps.variable(id, name) });
    this.#open.set(id, opening);
    opening.catch((error: unknown) => {
      this.#open.delete(id);
      this.#deps.log.error({ err: error, agent: id }, 'agent.not_opened');
    });
    return opening;
  }

  /** Those that have been opened. */
  opened(): Promise<readonly AgentRuntime[]> {
    return Promise.all(this.#open.values());
  }

  exists(id: string): boolean {
    return isAgent(this.#deps.settings(), id);
  }
}
