import { newAcpAgent } from '../../agent/acp/acp-agent.ts';
import type { AcpAgent } from '../../agent/acp/acp-agent.ts';
import type { AcpOptions } from '../../agent/acp/options.ts';
import type { Agent } from '../../agent/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { everything, grantsOf } from '../../store/agents/grants.ts';
import type { Store } from '../../store/store.ts';
import type { GatewaySettings } from '../settings.ts';
import { folderOfProgram, programOf, workspaceOf } from './work-folders.ts';

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
    const options = programOf(this.#deps.settings(), this.#deps.id);
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

  #make(options: AcpOptions): AcpAgent {
    const { settings, store, home, userHome, mediaFolder, version, clock, log } = this.#deps;
    return newAcpAgent({
      options,
      cwd: folderOfProgram(this.#deps, this.#deps.id) ?? workspaceOf(this.#deps),
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
}
