import { join, resolve } from 'node:path';
import { newAcpAgent } from '../../agent/acp/acp-agent.ts';
import type { AcpAgent } from '../../agent/acp/acp-agent.ts';
import { acpOptionsOf } from '../../agent/acp/options.ts';
import type { AcpOptions } from '../../agent/acp/options.ts';
import type { Agent } from '../../agent/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { mainAgent } from '../../routing/select-agent.ts';
import { everything, grantsOf } from '../../store/grants.ts';
import type { Store } from '../../store/store.ts';
import type { GatewaySettings } from '../settings.ts';

export interface AcpOfAgentDeps {
  readonly id: string;
  readonly home: string;
  readonly agentHome: string;
  readonly userHome: string;
  readonly mediaFolder: string;
  readonly version: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  settings(): GatewaySettings;
  /** Where the agent works when its `cwd` is not set. */
  workspace(): string;
  childEnvironment(): Readonly<Record<string, string>>;
}

/** The other program that answers as an agent, when the settings name one. */
export class AcpOfAgent {
  readonly #deps: AcpOfAgentDeps;
  #made: { readonly key: string; readonly agent: AcpAgent } | undefined;

  constructor(deps: AcpOfAgentDeps) {
    this.#deps = deps;
  }

  /** Undefined when the agent is one of ours. A program whose settings have changed ends with its last turn. */
  agent(): Agent | undefined {
    const options = this.#options();
    const key = JSON.stringify(options ?? null);
    if (this.#made !== undefined && this.#made.key !== key) {
      this.#made.agent.windDown();
      this.#made = undefined;
    }
    if (options === undefined) return undefined;
    this.#made ??= { key, agent: this.#make(options) };
    return this.#made.agent;
  }

  async stop(): Promise<void> {
    await this.#made?.agent[Symbol.asyncDispose]();
  }

  #options(): AcpOptions | undefined {
    const { agent, agents } = this.#deps.settings();
    const { id } = this.#deps;
    // What `agents.main` says about other things leaves the main agent what it is.
    const own = id === mainAgent && agents[id]?.kind !== 'acp' ? agent : agents[id];
    return own === undefined ? undefined : acpOptionsOf(own);
  }

  #make(options: AcpOptions): AcpAgent {
    const { settings, store, home, userHome, mediaFolder, version, clock, log } = this.#deps;
    return newAcpAgent({
      options,
      cwd: this.#folder(options.cwd),
      environment: this.#deps.childEnvironment(),
      home,
      userHome,
      mediaFolder,
      version,
      store,
      clock,
      log,
      approvalTimeoutMs: () => settings().approvals.timeout * 1000,
      async approvesAll(sessionId) {
        if (settings().approvals.mode === 'off') return true;
        return (await store.read((db) => grantsOf(db, sessionId))).some(({ pattern }) => pattern === everything);
      },
    });
  }

  #folder(cwd: string | undefined): string {
    if (cwd === undefined) return this.#deps.workspace();
    return cwd === '~' || cwd.startsWith('~/') ? join(this.#deps.userHome, cwd.slice(1)) : resolve(this.#deps.agentHome, cwd);
  }
}
