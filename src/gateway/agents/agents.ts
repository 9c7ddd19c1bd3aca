import { join } from 'node:path';
import type { Logger } from '../../lib/logger.ts';
import { homeOfAgent } from '../../routing/agent-home.ts';
import { agentIds, mainAgent } from '../../routing/select-agent.ts';
import type { GatewaySettings } from '../settings.ts';
import { AgentRuntime } from './agent-runtime.ts';
import { noVariables } from './own-variables.ts';
import type { OwnVariables } from './own-variables.ts';
import type { RuntimeDeps } from './agent-runtime.ts';
import type { SharedParts } from './shared-parts.ts';

export interface AgentsDeps extends Omit<RuntimeDeps, 'id' | 'variables'> {
  readonly log: Logger;
  readonly shared: SharedParts;
  settings(): GatewaySettings;
}

/** The agents of this gateway. None can reach what belongs to another. */
export class Agents {
  readonly #deps: AgentsDeps;
  readonly #open = new Map<string, Promise<AgentRuntime>>();
  readonly #ready = new Map<string, AgentRuntime>();
  /** Of agents that have moved; a turn may still run in one. */
  readonly #retired: AgentRuntime[] = [];
  readonly #variables = new Map<string, OwnVariables>();
  #early: Promise<unknown> = Promise.resolve();

  constructor(deps: AgentsDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.#learnSecrets();
    await this.#deps.shared.start();
    // Opened at once, so that a terminal that cannot work is said at the start and not in a conversation.
    await this.get(mainAgent);
    this.#openOthers();
  }

  /** Looks after what an earlier gateway of this home has left running. Only for whoever is the only one in it. */
  takeOver(): Promise<void> {
    return this.#deps.shared.takeOver();
  }

  /** The settings have changed; agents take over what concerns them with their next turn. */
  async configure(): Promise<void> {
    await this.#learnSecrets();
    for (const [id, runtime] of this.#ready) if (runtime.agentHome !== this.#homeOf(id)) this.#retire(id, runtime);
    await this.#deps.shared.configure();
    this.#openOthers();
  }

  async stop(): Promise<void> {
    await this.#early;
    // One that cannot be opened has said so.
    for (const opening of await Promise.allSettled(this.#open.values())) if (opening.status === 'fulfilled') await opening.value.stop();
    for (const runtime of this.#retired) await runtime.stop();
    await this.#deps.shared.stop();
  }

  /** An agent that the configuration does not know any more still ends the conversations that it had. */
  async get(id: string): Promise<AgentRuntime> {
    const variables = this.#variablesOf(id);
    await this.#refresh(id, variables);
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const opening = AgentRuntime.open({ ...this.#deps, id, variables });
    this.#open.set(id, opening);
    opening.then(
      // The agent may have moved while it was opened.
      (runtime) => (runtime.agentHome === this.#homeOf(id) ? void this.#ready.set(id, runtime) : this.#retire(id, runtime)),
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

  /** Commands need what an agent has before it has had a turn. Nobody waits for it, and whoever fails is tried again with its first turn. */
  #openOthers(): void {
    this.#early = Promise.allSettled([this.#early, ...agentIds(this.#deps.settings()).map((id) => this.get(id))]);
  }

  #homeOf(id: string): string {
    return homeOfAgent(this.#deps.home, id, this.#deps.settings().agents[id]);
  }

  #retire(id: string, runtime: AgentRuntime): void {
    this.#open.delete(id);
    this.#ready.delete(id);
    this.#retired.push(runtime);
  }

  #variablesOf(id: string): OwnVariables {
    const path = join(this.#homeOf(id), '.env');
    const known = this.#variables.get(id);
    if (known?.path === path) return known;
    const variables = this.#deps.outside.openVariables?.(path, this.#deps.redactor) ?? noVariables(path);
    this.#variables.set(id, variables);
    return variables;
  }

  async #refresh(id: string, variables: OwnVariables): Promise<void> {
    const problems = await variables.refresh();
    if (problems.length > 0) this.#deps.log.error({ agent: id, problems }, 'agent.secrets_not_read');
  }

  /** Before an agent has its first turn nothing may show its secrets either. */
  async #learnSecrets(): Promise<void> {
    for (const id of agentIds(this.#deps.settings())) await this.#refresh(id, this.#variablesOf(id));
  }
}
