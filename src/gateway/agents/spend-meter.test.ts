import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import type { Agent, TurnInput } from '../../agent/contract.ts';
import { ModelError } from '../../core/errors.ts';
import type { Usage } from '../../core/transcript.ts';
import { noUsage } from '../../core/transcript.ts';
import { manualClock } from '../../lib/clock.ts';
import { localDay, nextDayMs } from '../../lib/local-day.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { spendOf } from '../../store/agents/agent-spend.ts';
import type { Store } from '../../store/store.ts';
import { AgentSpendMeter, meteredAgent } from './spend-meter.ts';

const forTurn = { what: 'turn', model: 'm' } as const;
const cost = (usd: number | undefined): Usage => ({ ...noUsage, inputTokens: 1, ...(usd !== undefined && { cost: { usd, status: 'actual' } }) });
const overBudget = (error: unknown): boolean => error instanceof ModelError && error.code === 'over_budget' && !error.rule.retry && !error.rule.fallBack;

const newMeter = (store: Store, limit: number | undefined) => {
  const clock = manualClock(new Date(2026, 10, 15, 23, 0).getTime());
  const { log, lines } = capturingLogger();
  return { clock, lines, meter: new AgentSpendMeter({ agent: 'a', store, clock, log, onSpent: () => undefined, limitUsd: () => limit }) };
};

eachStore((_engine, open) => {
  test('calls are let through until the limit of the day is reached, also by somebody who knows only the store', async () => {
    const { store, another } = await open();
    const { meter, clock } = newMeter(store, 1);
    await meter.admit();
    void meter.spent(cost(0.6), forTurn);
    await meter.admit();
    void meter.spent(cost(0.6), forTurn);
    await assert.rejects(meter.admit(), overBudget, 'what was just spent counts, also while it is being written');
    const restarted = newMeter(await another(), 1);
    await assert.rejects(restarted.meter.admit(), overBudget);
    const ms = nextDayMs(clock.now()) - clock.now();
    await restarted.clock.advance(ms - 1);
    await assert.rejects(restarted.meter.admit(), overBudget);
    await restarted.clock.advance(1);
    await restarted.meter.admit();
  });

  test('without a limit everything is let through and still counted; what has no price is said once where there is a limit', async () => {
    const { store } = await open();
    const free = newMeter(store, undefined);
    for (const usd of [100, undefined]) await free.meter.spent(cost(usd), forTurn);
    await free.meter.admit();
    await free.meter.settle();
    assert.deepEqual(await store.read((db) => spendOf(db, { agent: 'a', day: localDay(free.clock.now()) })), { usd: 100, unpriced: 1 });
    assert.equal(free.lines.length, 0);
    const limited = newMeter(store, 200);
    for (const usd of [undefined, undefined]) await limited.meter.spent(cost(usd), forTurn);
    assert.equal(limited.lines.filter((line) => line.includes('agent.spend_unknown')).length, 1);
  });

  test('another program is not asked when nothing may be spent, and what it says that it has spent counts', async () => {
    const { store } = await open();
    const { meter } = newMeter(store, 1);
    let runs = 0;
    const program: Agent = {
      async *run() {
        runs += 1;
        yield { type: 'usage', usage: cost(2), model: 'm' };
        yield { type: 'end', reason: 'completed' };
      },
    };
    const run = async (): Promise<readonly string[]> => {
      const seen: string[] = [];
      for await (const event of meteredAgent(program, meter).run({} as TurnInput, new AbortController().signal)) seen.push(event.type === 'end' ? `${event.reason} ${event.error?.code ?? ''}`.trim() : event.type);
      return seen;
    };
    assert.deepEqual(await run(), ['usage', 'completed']);
    assert.deepEqual(await run(), ['model_error over_budget']);
    assert.equal(runs, 1);
  });
});
