import { prepared } from '../prepared.ts';
import type { Reading, Writing } from '../store.ts';

/** What an agent has spent on models in a day. */
export interface AgentSpend {
  readonly usd: number;
  /** Calls of which nobody knows what they cost; they count as nothing. */
  readonly unpriced: number;
}

const nothing: AgentSpend = { usd: 0, unpriced: 0 };

/** Adds one call; `usd` is undefined when nobody knows what it cost. */
export const addSpend = async (tx: Writing, call: { readonly agent: string; readonly day: string; readonly usd: number | undefined }): Promise<void> => {
  const { agent, day, usd } = call;
  await addSpends(tx, { agent, day, usd: usd ?? 0, unpriced: usd === undefined ? 1 : 0 });
};

/** Adds several calls of a day together. */
export const addSpends = async (tx: Writing, calls: AgentSpend & { readonly agent: string; readonly day: string }): Promise<void> => {
  const { agent, day, usd, unpriced } = calls;
  await upsertSpend(tx, { agent, day, usd, unpriced });
};

const upsertSpend = prepared((db, call: { agent: string; day: string; usd: number; unpriced: number }) =>
  db.q
    .insertInto('agent_spend')
    .values({ agent: call.agent, day: call.day, usd: call.usd, unpriced: call.unpriced, updated_at: db.now })
    .onConflict((conflict) =>
      conflict.columns(['agent', 'day']).doUpdateSet((eb) => ({
        usd: eb('agent_spend.usd', '+', eb.ref('excluded.usd')),
        unpriced: eb('agent_spend.unpriced', '+', eb.ref('excluded.unpriced')),
        updated_at: db.now,
      })),
    ),
);

export const spendOf = async (db: Reading, at: { readonly agent: string; readonly day: string }): Promise<AgentSpend> => {
  const [row] = (await selectSpend(db, at)).rows;
  return row ?? nothing;
};

const selectSpend = prepared((db, at: { agent: string; day: string }) => db.q.selectFrom('agent_spend').select(['usd', 'unpriced']).where('agent', '=', at.agent).where('day', '=', at.day));

/** What each agent has spent in a day; those that have spent nothing are missing. */
export const spendOfDay = async (db: Reading, day: string): Promise<ReadonlyMap<string, AgentSpend>> => {
  const rows = await db.q.selectFrom('agent_spend').select(['agent', 'usd', 'unpriced']).where('day', '=', day).execute();
  return new Map(rows.map(({ agent, usd, unpriced }) => [agent, { usd, unpriced }]));
};
