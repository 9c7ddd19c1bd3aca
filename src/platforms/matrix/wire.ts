export type Json = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Json | undefined => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined);
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** A text without lone surrogates; undefined for anything else. */
export const text = (value: unknown): string | undefined => (typeof value === 'string' ? value.toWellFormed() : undefined);
export const integer = (value: unknown): number | undefined => (typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined);
export const texts = (value: unknown): readonly string[] => list(value).map(text).filter((item) => item !== undefined);

/** An event of a room, as `/sync` and `/messages` show it. */
export interface RoomEvent {
  readonly id: string;
  readonly type: string;
  readonly sender: string;
  readonly atMs: number;
  readonly content: Json;
  readonly stateKey?: string;
  /** What a redaction takes back. */
  readonly redacts?: string;
  /** It was taken back itself. */
  readonly isRedacted: boolean;
  /** It arrived encrypted, and was read. */
  readonly wasEncrypted?: true;
  readonly raw: Json;
}

export const readEvent = (value: unknown): RoomEvent | undefined => {
  const raw = record(value);
  const id = text(raw?.['event_id']);
  const type = text(raw?.['type']);
  const sender = text(raw?.['sender']);
  if (raw === undefined || id === undefined || type === undefined || sender === undefined) return undefined;
  const content = record(raw['content']) ?? {};
  const stateKey = text(raw['state_key']);
  // Rooms of version 11 and later name it in the content.
  const redacts = text(raw['redacts']) ?? text(content['redacts']);
  return {
    id,
    type,
    sender,
    atMs: integer(raw['origin_server_ts']) ?? 0,
    content,
    isRedacted: record(record(raw['unsigned'])?.['redacted_because']) !== undefined,
    raw,
    ...(stateKey !== undefined && { stateKey }),
    ...(redacts !== undefined && { redacts }),
  };
};

export interface StateEvent {
  readonly type: string;
  readonly stateKey: string;
  readonly sender: string | undefined;
  readonly content: Json;
}

/** State of a room, also the stripped kind that comes with an invitation. */
export const readState = (value: unknown): StateEvent | undefined => {
  const raw = record(value);
  const type = text(raw?.['type']);
  const stateKey = text(raw?.['state_key']);
  if (type === undefined || stateKey === undefined) return undefined;
  return { type, stateKey, sender: text(raw?.['sender']), content: record(raw?.['content']) ?? {} };
};

export interface Relation {
  readonly thread?: string;
  readonly replaces?: string;
  /** What a person answers; not the stand-in that clients without threads are given. */
  readonly inReplyTo?: string;
}

export const readRelation = (content: Json): Relation => {
  const relates = record(content['m.relates_to']);
  const type = text(relates?.['rel_type']);
  const target = text(relates?.['event_id']);
  const reply = text(record(relates?.['m.in_reply_to'])?.['event_id']);
  const isStandIn = type === 'm.thread' && relates?.['is_falling_back'] === true;
  return {
    ...(type === 'm.thread' && target !== undefined && { thread: target }),
    ...(type === 'm.replace' && target !== undefined && { replaces: target }),
    ...(reply !== undefined && !isStandIn && { inReplyTo: reply }),
  };
};
