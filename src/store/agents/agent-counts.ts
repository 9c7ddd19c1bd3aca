import type { Reading } from '../store.ts';

/** How many conversations each agent has had that anything was said in. */
export const conversationsByAgent = async (db: Reading): Promise<ReadonlyMap<string, number>> => {
  const rows = await db.q
    .selectFrom('sessions')
    .select((eb) => ['agent', eb.fn.countAll<number>().as('count')])
    .where('message_count', '>', 0)
    .groupBy('agent')
    .execute();
  return new Map(rows.map(({ agent, count }) => [agent, Number(count)]));
};
