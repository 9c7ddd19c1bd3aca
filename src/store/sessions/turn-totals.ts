import { sql } from 'kysely';
import type { ExpressionBuilder, RawBuilder } from 'kysely';
import type { Usage } from '../../core/transcript.ts';
import { prepared } from '../prepared.ts';
import type { Tables } from '../schema.ts';
import type { CostStatus } from '../schema/conversation-rows.ts';
import type { Writing } from '../store.ts';
import type { ContextFacts, PromptCount } from './sessions.ts';

/** What is known about the model's window after a turn. */
export interface WindowUpdate {
  readonly prompt?: PromptCount;
  /** The same count, before it is known which messages were read. */
  readonly promptTokens?: number;
  readonly facts?: ContextFacts;
}

export const addTurnTotals = async (tx: Writing, id: string, totals: { usage: Usage; model: string | null; context?: WindowUpdate }): Promise<void> => {
  const { prompt, facts } = totals.context ?? {};
  const { cost, ...tokens } = totals.usage;
  const counted = { promptTokens: prompt?.tokens ?? null, promptThrough: prompt?.throughId ?? null, facts: facts === undefined ? null : JSON.stringify(facts) };
  await updateTotals(tx, { id, model: totals.model, ...tokens, ...counted, costUsd: cost?.usd ?? null, costStatus: cost?.status ?? null });
};

interface Used extends Omit<Usage, 'cost'> {
  readonly id: string;
  readonly costUsd: number | null;
  readonly costStatus: CostStatus | null;
}

interface Totals extends Used {
  readonly model: string | null;
  readonly promptTokens: number | null;
  readonly promptThrough: number | null;
  readonly facts: string | null;
}

/** The same as `addUsage`, in SQL: a sum is as certain as its least certain part, and what has used nothing takes no part in it. */
const statusOfSum = (totals: Used): RawBuilder<CostStatus | null> => {
  const added = sql<CostStatus | null>`cast(${totals.costStatus} as text)`;
  return sql`case
    when ${added} is null and (cost_status is null or cast(${totals.inputTokens} as bigint) + cast(${totals.outputTokens} as bigint) = 0) then cost_status
    when cost_status is null and input_tokens + output_tokens = 0 then ${added}
    when ${added} = 'actual' and cost_status = 'actual' then 'actual'
    else 'estimated' end`;
};

/** What was used for a conversation beside its turns: nobody has spoken. */
export const addUsageTotals = async (tx: Writing, id: string, { cost, ...tokens }: Usage): Promise<void> => {
  const totals = { id, ...tokens, costUsd: cost?.usd ?? null, costStatus: cost?.status ?? null };
  await tx.q.updateTable('sessions').set((eb) => sumsOf(eb, totals)).where('id', '=', id).execute();
};

const sumsOf = (eb: ExpressionBuilder<Tables, 'sessions'>, totals: Used) => ({
  input_tokens: eb('input_tokens', '+', totals.inputTokens),
  output_tokens: eb('output_tokens', '+', totals.outputTokens),
  cache_read_tokens: eb('cache_read_tokens', '+', totals.cacheReadTokens),
  cache_write_tokens: eb('cache_write_tokens', '+', totals.cacheWriteTokens),
  reasoning_tokens: eb('reasoning_tokens', '+', totals.reasoningTokens),
  cost_usd: sql<number | null>`coalesce(cost_usd + cast(${totals.costUsd} as double precision), cost_usd, cast(${totals.costUsd} as double precision))`,
  cost_status: statusOfSum(totals),
});

const updateTotals = prepared((db, totals: Totals) =>
  db.q
    .updateTable('sessions')
    .set((eb) => ({
      ...sumsOf(eb, totals),
      turn_count: eb('turn_count', '+', 1),
      active_at: db.now,
      model: sql<string | null>`coalesce(${totals.model}, model)`,
      prompt_tokens: sql<number | null>`coalesce(${totals.promptTokens}, prompt_tokens)`,
      prompt_through: sql<number | null>`coalesce(${totals.promptThrough}, prompt_through)`,
      context_facts: sql<string | null>`coalesce(${totals.facts}, context_facts)`,
    }))
    .where('id', '=', totals.id),
);
