import type { Logger } from '../../lib/logger.ts';
import { mainAgent } from '../../routing/select-agent.ts';
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
  readonly #ready = new Map<string, AgentRuntime>();

  constructor(deps: AgentsDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.#deps.shared.start();
    // Opened at once, so that a terminal that cannot work is said at the start and not in a conversation.
    await this.get(mainAgent);
  }

  /** The settings have changed; agents take over what concerns them with their next turn. */
  configure(): Promise<void> {
    return this.#deps.shared.configure();
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
    opening.then(
      (runtime) => void this.#ready.set(id, runtime),
      (error: unknown) => {
        this.#open.delete(id);
        this.#deps.log.error({ err: error, agent: id }, 'agent.not_opened');
      },
    );
    return opening;
  }

  /** One that has been opened; for whoever cannot wait. */
  peek(id: string): AgentRuntime | undefined {
    return this.#ready.get(id);
  }

  /** Those that have been opened. */
  opened(): readonly AgentRuntime[] {
    return [...this.#ready.values()];
  }
}
