import type { InboundEvent } from '../../../core/message.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { AccountData } from '../../contract.ts';
import { integer, readEvent, record, text } from '../wire.ts';
import type { RoomEvent } from '../wire.ts';

const prefix = 'undecrypted:';
const toldPrefix = 'undecrypted-told:';

/** Keys often come a moment after what they open. */
const patienceMs = 30_000;
const mostKept = 1000;
const keepMs = 7 * 24 * 3600_000;

interface Kept {
  readonly row: string;
  readonly roomId: string;
  readonly event: RoomEvent;
  readonly keptAtMs: number;
}

/** Messages whose keys have not come yet, kept across restarts. */
export interface Undecrypted {
  keep(roomId: string, event: RoomEvent): Promise<void>;
  /** Those that are worth another try: their key has come, or the gateway has just started. */
  due(): Promise<readonly Kept[]>;
  /** It was read, or nobody waits for it any more. */
  done(kept: Kept): Promise<void>;
  /** Something came that may hold a key. */
  keysCame(): void;
  /** Messages that have waited so long that their senders should know; each session of a room once. */
  untold(): Promise<readonly Kept[]>;
  told(kept: Kept): Promise<void>;
}

const sessionOf = (event: RoomEvent): string => text(event.content['session_id']) ?? '';

const readKept = ({ key, value }: { key: string; value: string }): Kept | undefined => {
  const stored = record(JSON.parse(value));
  const [roomId, event, keptAtMs] = [text(stored?.['roomId']), readEvent(stored?.['event']), integer(stored?.['keptAtMs'])];
  return roomId === undefined || event === undefined || keptAtMs === undefined ? undefined : { row: key, roomId, event, keptAtMs };
};

export const newUndecrypted = ({ data, clock, log }: { data: AccountData; clock: Clock; log: Logger }): Undecrypted => {
  let rows: Map<string, Kept> | undefined;
  let mayRead = true;

  const all = async (): Promise<Map<string, Kept>> =>
    (rows ??= new Map((await data.list(prefix)).map(readKept).filter((kept) => kept !== undefined).map((kept) => [kept.row, kept])));

  const done = async (kept: Kept): Promise<void> => {
    (await all()).delete(kept.row);
    await data.remove(kept.row);
  };

  return {
    async keep(roomId, event) {
      const row = `${prefix}${roomId} ${event.id}`;
      const kept = await all();
      if (kept.has(row)) return;
      const [oldest] = kept.values();
      if (kept.size >= mostKept && oldest !== undefined) await done(oldest);
      const keptAtMs = clock.now();
      await data.set(row, JSON.stringify({ roomId, event: event.raw, keptAtMs }));
      kept.set(row, { row, roomId, event, keptAtMs });
    },
    async due() {
      const kept = [...(await all()).values()];
      for (const old of kept.filter(({ keptAtMs }) => clock.now() - keptAtMs > keepMs)) {
        log.warn({ roomId: old.roomId, eventId: old.event.id }, 'matrix.event.given_up');
        await done(old);
      }
      if (!mayRead) return [];
      mayRead = false;
      return [...(await all()).values()].toSorted((a, b) => a.event.atMs - b.event.atMs);
    },
    done,
    keysCame: () => void (mayRead = true),
    async untold() {
      const waiting = [...(await all()).values()].filter(({ keptAtMs }) => clock.now() - keptAtMs > patienceMs);
      const found: Kept[] = [];
      for (const kept of waiting) if ((await data.get(`${toldPrefix}${kept.roomId} ${sessionOf(kept.event)}`)) === undefined) found.push(kept);
      return found;
    },
    told: ({ roomId, event }) => data.set(`${toldPrefix}${roomId} ${sessionOf(event)}`, String(clock.now())),
  };
};

/** What the conversation is told about a message that cannot be read, so that its sender learns of it. */
export const unreadableEvent = (account: string, { roomId, event }: Kept, isDirect: boolean): InboundEvent => ({
  account,
  kind: 'message',
  nativeId: `unreadable:${event.id}`,
  chat: { id: roomId, type: isDirect ? 'dm' : 'group' },
  sender: { id: event.sender, isBot: false },
  text: '[An encrypted message arrived that cannot be read here, because its key was not shared with this device. Tell the sender that it could not be read, and ask them to send it again.]',
  media: [],
  messageId: event.id,
  addressed: isDirect,
  mentioned: false,
  sentAtMs: event.atMs,
});
