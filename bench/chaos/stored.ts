import { inboxCounts } from '../../src/store/messages/inbox.ts';
import { outboxCounts } from '../../src/store/messages/outbox.ts';
import type { Store } from '../../src/store/store.ts';

export interface StoredItem {
  readonly id: number;
  readonly account: string;
  readonly nativeId: string;
  readonly sessionId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly turnId: number | null;
}

export interface StoredTurn {
  readonly id: number;
  readonly state: string;
  readonly attempts: number;
  readonly reason: string | null;
}

export interface StoredDelivery {
  readonly id: number;
  readonly key: string;
  readonly state: string;
  readonly attempts: number;
  readonly turnId: number | null;
  readonly inboxId: number | null;
  readonly error: string | null;
  readonly log: string;
  readonly text: string;
}

export interface StoredRow {
  readonly id: number;
  readonly sessionId: string;
  readonly turnId: number | null;
  readonly role: string;
  readonly content: string;
}

/** What the gateway has written down about the whole run. */
export interface Stored {
  readonly items: readonly StoredItem[];
  readonly turns: readonly StoredTurn[];
  readonly deliveries: readonly StoredDelivery[];
  readonly rows: readonly StoredRow[];
  /** Lanes that somebody holds or that have work. */
  readonly openLanes: readonly string[];
  readonly nodes: number;
}

const textOf = (payload: string): string => (JSON.parse(payload) as { message: { text: string } }).message.text;

export const readStored = (store: Store): Promise<Stored> =>
  store.read(async ({ q }) => {
    const items = await q.selectFrom('inbox').select(['id', 'account', 'native_id', 'session_id', 'state', 'reason', 'turn_id']).where('kind', '=', 'message').orderBy('id').execute();
    const turns = await q.selectFrom('turns').select(['id', 'state', 'attempts', 'exit_reason']).orderBy('id').execute();
    const deliveries = await q.selectFrom('outbox').select(['id', 'key', 'state', 'attempts', 'turn_id', 'inbox_id', 'error', 'log', 'payload']).orderBy('id').execute();
    const rows = await q.selectFrom('messages').select(['id', 'session_id', 'turn_id', 'role', 'content']).orderBy('id').execute();
    const lanes = await q.selectFrom('lanes').select('lane').where((eb) => eb.or([eb('has_work', '=', 1), eb('owner', 'is not', null)])).execute();
    const nodes = await q.selectFrom('nodes').select('id').execute();
    return {
      items: items.map((item) => ({ id: item.id, account: item.account, nativeId: item.native_id, sessionId: item.session_id ?? '', state: item.state, reason: item.reason, turnId: item.turn_id })),
      turns: turns.map((turn) => ({ id: turn.id, state: turn.state, attempts: turn.attempts, reason: turn.exit_reason })),
      deliveries: deliveries.map(({ turn_id: turnId, inbox_id: inboxId, payload, ...rest }) => ({ ...rest, turnId, inboxId, text: textOf(payload) })),
      rows: rows.map((row) => ({ id: row.id, sessionId: row.session_id, turnId: row.turn_id, role: row.role, content: row.content })),
      openLanes: lanes.map(({ lane }) => lane),
      nodes: nodes.length,
    };
  });

/** Whether everything that was taken in has been dealt with and everything that was to be sent has been sent or given up. */
export const isSettled = (store: Store): Promise<boolean> =>
  store.read(async (db) => {
    const inbox = await inboxCounts(db);
    const outbox = await outboxCounts(db);
    return [inbox['waiting'], inbox['running'], outbox['pending'], outbox['sending'], outbox['unknown']].every((count) => (count ?? 0) === 0);
  });
