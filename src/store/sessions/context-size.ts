import type { Role } from '../../core/transcript.ts';
import type { Reading } from '../store.ts';
import type { Stretch } from './archive.ts';

export interface ContextSize {
  readonly messages: number;
  readonly sizeBytes: number;
}

const nothing: ContextSize = { messages: 0, sizeBytes: 0 };

/** Bytes of the newest messages that the model may see, up to `limit` of them. Costs the same however long the conversation is. */
export const contextSize = async (db: Reading, sessionId: string, limit: number): Promise<ContextSize> => {
  const newest = db.q.selectFrom('messages').select('size').where('session_id', '=', sessionId).where('active', '=', 1).orderBy('id', 'desc').limit(limit).as('newest');
  const row = await db.q
    .selectFrom(newest)
    .select((eb) => [eb.fn.countAll<number>().as('messages'), eb.fn.coalesce(eb.fn.sum<number>('newest.size'), eb.lit(0)).as('size')])
    .executeTakeFirstOrThrow();
  return { messages: Number(row.messages), sizeBytes: Number(row.size) };
};

/** Everything that the model may see, by who said it. Reads every such message once. */
export const contextByRole = async (db: Reading, sessionId: string): Promise<Readonly<Record<Role, ContextSize>>> => {
  const rows = await db.q
    .selectFrom('messages')
    .select((eb) => ['role', eb.fn.countAll<number>().as('messages'), eb.fn.sum<number>('size').as('size')])
    .where('session_id', '=', sessionId)
    .where('active', '=', 1)
    .groupBy('role')
    .execute();
  const of = (role: Role): ContextSize => {
    const row = rows.find((each) => each.role === role);
    return row === undefined ? nothing : { messages: Number(row.messages), sizeBytes: Number(row.size) };
  };
  return { user: of('user'), assistant: of('assistant'), tool: of('tool') };
};

/** What lies in a stretch of a conversation; only tool results that are larger than `resultsOver`, if that is given. */
export const stretchSize = async (db: Reading, sessionId: string, stretch: Stretch & { readonly resultsOver?: number }): Promise<ContextSize> => {
  let query = db.q
    .selectFrom('messages')
    .select((eb) => [eb.fn.countAll<number>().as('messages'), eb.fn.coalesce(eb.fn.sum<number>('size'), eb.lit(0)).as('size')])
    .where('session_id', '=', sessionId)
    .where('active', '=', 1)
    .where('id', '>', stretch.afterId)
    .where('id', '<=', stretch.throughId);
  if (stretch.keepIds.length > 0) query = query.where('id', 'not in', [...stretch.keepIds]);
  if (stretch.resultsOver !== undefined) query = query.where('role', '=', 'tool').where('size', '>', stretch.resultsOver);
  const row = await query.executeTakeFirstOrThrow();
  return { messages: Number(row.messages), sizeBytes: Number(row.size) };
};
