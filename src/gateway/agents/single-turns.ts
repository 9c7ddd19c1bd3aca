import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { turnsAtWork, wakeNextOf } from '../../store/lanes/agent-lanes.ts';
import type { Store } from '../../store/store.ts';
import type { GatewaySettings } from '../settings.ts';

export interface SingleTurnsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  settings(): Pick<GatewaySettings, 'agents'>;
}

const lookMs = 200;
const longestWaitMs = 60_000;

/** Turns that belong to no conversation: they have no lane, and count towards what their agent may do at once all the same. Those of this process. */
export class SingleTurns {
  readonly #deps: SingleTurnsDeps;
  readonly #counts = new Map<string, number>();

  constructor(deps: SingleTurnsDeps) {
    this.#deps = deps;
  }

  count(agent: string): number {
    return this.#counts.get(agent) ?? 0;
  }

  /** Waits until the agent may take on one more; undefined when that takes too long or the signal comes first. */
  async enter(agent: string, signal: AbortSignal): Promise<AsyncDisposable | undefined> {
    const { clock } = this.#deps;
    const untilMs = clock.now() + longestWaitMs;
    for (;;) {
      if (await this.#take(agent)) return { [Symbol.asyncDispose]: () => this.#leave(agent) };
      if (clock.now() >= untilMs || !(await slept(clock, lookMs, signal))) return undefined;
    }
  }

  /** Counts before it looks, so that two who look at once see each other. */
  async #take(agent: string): Promise<boolean> {
    let fits = false;
    this.#add(agent, 1);
    try {
      fits = await this.#fits(agent);
    } finally {
      if (!fits) this.#add(agent, -1);
    }
    return fits;
  }

  #most(agent: string): number | undefined {
    return this.#deps.settings().agents[agent]?.max_concurrent_turns;
  }

  async #fits(agent: string): Promise<boolean> {
    const most = this.#most(agent);
    if (most === undefined) return true;
    const others = await this.#deps.store.read(turnsAtWork);
    return this.count(agent) + (others.get(agent) ?? 0) <= most;
  }

  #add(agent: string, one: 1 | -1): void {
    this.#counts.set(agent, this.count(agent) + one);
  }

  async #leave(agent: string): Promise<void> {
    this.#add(agent, -1);
    if (this.#most(agent) === undefined) return;
    try {
      await this.#deps.store.write((tx) => wakeNextOf(tx, agent));
    } catch (error) {
      // Whoever waits looks again by itself.
      this.#deps.log.warn({ err: error, agent }, 'agent.next_not_woken');
    }
  }
}
