import type { Agent } from '../../agent/contract.ts';
import type { MeteredCall, SpendMeter } from '../../agent/models/metered.ts';
import { ModelError } from '../../core/errors.ts';
import type { Usage } from '../../core/transcript.ts';
import type { Clock } from '../../lib/clock.ts';
import { localDay } from '../../lib/local-day.ts';
import type { Logger } from '../../lib/logger.ts';
import { addSpends, spendOf } from '../../store/agents/agent-spend.ts';
import type { AgentSpend } from '../../store/agents/agent-spend.ts';
import type { Store } from '../../store/store.ts';

export interface SpendMeterDeps {
  readonly agent: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** What may be spent in a day; undefined without a limit. */
  limitUsd(): number | undefined;
  onSpent(usage: Usage, call: MeteredCall): void;
}

/** Where nothing is limited, what several calls have cost is written together: a crash may take this much of the statistics with it, and no more. */
const togetherMs = 250;

/** Keeps what one agent spends, for every model call that it makes, whatever it is for. A call that has begun is paid for; the next one is not made when the day's limit is reached. */
export class AgentSpendMeter implements SpendMeter {
  readonly #deps: SpendMeterDeps;
  readonly #writing = new Set<Promise<void>>();
  #gathered: (AgentSpend & { readonly day: string }) | undefined;
  #timer: NodeJS.Timeout | undefined;
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

  async spent(usage: Usage, call: MeteredCall): Promise<void> {
    const { cost } = usage;
    this.#deps.onSpent(usage, call);
    const limited = this.#deps.limitUsd() !== undefined;
    if (cost === undefined && limited && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#deps.log.warn({ agent: this.#deps.agent }, 'agent.spend_unknown');
    }
    this.#gather(cost?.usd);
    if (limited) await this.#keep();
    else this.#timer ??= setTimeout(() => void this.#keep(), togetherMs).unref();
  }

  /** Resolves when all that was spent so far is stored. */
  async settle(): Promise<void> {
    void this.#keep();
    await Promise.all(this.#writing);
  }

  #gather(usd: number | undefined): void {
    const day = localDay(this.#deps.clock.now());
    if (this.#gathered !== undefined && this.#gathered.day !== day) void this.#keep();
    const { usd: before, unpriced } = this.#gathered ?? { usd: 0, unpriced: 0 };
    this.#gathered = { day, usd: before + (usd ?? 0), unpriced: unpriced + (usd === undefined ? 1 : 0) };
  }

  async #keep(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered;
    if (gathered === undefined) return;
    this.#gathered = undefined;
    const writing = this.#write(gathered);
    this.#writing.add(writing);
    await writing;
    this.#writing.delete(writing);
  }

  async #write(gathered: AgentSpend & { readonly day: string }): Promise<void> {
    const { agent, store, log } = this.#deps;
    try {
      await store.write((tx) => addSpends(tx, { agent, ...gathered }), { patient: this.#deps.limitUsd() === undefined });
    } catch (error) {
      log.error({ err: error, agent, usd: gathered.usd }, 'agent.spend_not_kept');
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
      if (event.type === 'usage') await meter.spent(event.usage, { what: 'turn', model: event.model ?? '' });
      yield event;
    }
  },
});
