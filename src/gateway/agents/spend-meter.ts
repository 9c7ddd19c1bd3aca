import type { Agent } from '../../agent/contract.ts';
import type { SpendMeter } from '../../agent/models/metered.ts';
import { ModelError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { localDay } from '../../lib/local-day.ts';
import type { Logger } from '../../lib/logger.ts';
import { addSpend, spendOf } from '../../store/agent-spend.ts';
import type { Store } from '../../store/store.ts';

export interface SpendMeterDeps {
  readonly agent: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** What may be spent in a day; undefined without a limit. */
  limitUsd(): number | undefined;
}

/** Keeps what one agent spends, for every model call that it makes, whatever it is for. A call that has begun is paid for; the next one is not made when the day's limit is reached. */
export class AgentSpendMeter implements SpendMeter {
  readonly #deps: SpendMeterDeps;
  readonly #writing = new Set<Promise<void>>();
  #hasWarned = false;

  constructor(deps: SpendMeterDeps) {
    this.#deps = deps;
  }

  async admit(): Promise<void> {
    const { agent, store, clock } = this.#deps;
    const limit = this.#deps.limitUsd();
    if (limit === undefined) return;
    await this.settle();
    const { usd } = await store.read((db) => spendOf(db, { agent, day: localDay(clock.now()) }));
    if (usd >= limit) throw new ModelError('over_budget', `the agent ${agent} has spent ${usd.toFixed(2)} of ${limit.toFixed(2)} US dollars today`);
  }

  spent({ cost }: Parameters<SpendMeter['spent']>[0]): Promise<void> {
    const writing = this.#write(cost?.usd);
    this.#writing.add(writing);
    return writing.finally(() => this.#writing.delete(writing));
  }

  /** Resolves when all that was spent so far is stored. */
  async settle(): Promise<void> {
    await Promise.all(this.#writing);
  }

  async #write(usd: number | undefined): Promise<void> {
    const { agent, store, clock, log } = this.#deps;
    const limited = this.#deps.limitUsd() !== undefined;
    if (usd === undefined && limited && !this.#hasWarned) {
      this.#hasWarned = true;
      log.warn({ agent }, 'agent.spend_unknown');
    }
    try {
      await store.write((tx) => addSpend(tx, { agent, day: localDay(clock.now()), usd }), { patient: !limited });
    } catch (error) {
      log.error({ err: error, agent, usd }, 'agent.spend_not_kept');
    }
  }
}

/** An agent that is another program: what it says that it has spent is counted, and it is not asked when nothing more may be spent. */
export const meteredAgent = (agent: Agent, meter: SpendMeter): Agent => ({
  async *run(input, signal) {
    try {
      await meter.admit();
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      yield { type: 'end', reason: 'model_error', error: { code: error.code, sentence: error.rule.sentence } };
      return;
    }
    for await (const event of agent.run(input, signal)) {
      if (event.type === 'usage') await meter.spent(event.usage);
      yield event;
    }
  },
});
