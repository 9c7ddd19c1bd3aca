import type { Role } from '../../core/transcript.ts';
import type { RoomLimits } from './limits.ts';

/** A message as far as it matters for where a conversation is cut. */
export interface BoundaryRow {
  readonly id: number;
  readonly role: Role;
  readonly tokens: number;
}

/** What stays word for word: everything up to `headThroughId`, everything from `tailFromId` on, and single messages in between. */
export interface Boundaries {
  readonly headThroughId: number;
  readonly tailFromId: number;
  readonly keepIds: readonly number[];
}

/** How hard room is needed: each level leaves less of the newest messages word for word, and the last nothing of the beginning. */
export type Level = 0 | 1 | 2;
export const lastLevel: Level = 2;

export interface TailLimits {
  readonly tokens: number;
  /** As many messages are kept while they are not far over `tokens`. */
  readonly wantRows: number;
  /** As many are kept in any case. */
  readonly floorRows: number;
  /** No more are kept, however short they are. */
  readonly mostRows: number;
}

const floorRows = 8;
/** How far over its tokens the tail may go for the messages it wants. */
const softCeiling = 1.5;

export const tailLimits = (level: Level, room: Pick<RoomLimits, 'tailTokens'>, rows: { readonly protectLast: number; readonly most: number }): TailLimits => {
  const mostRows = Math.max(rows.most, floorRows);
  switch (level) {
    case 0:
      return { tokens: room.tailTokens, wantRows: rows.protectLast, floorRows: Math.min(floorRows, rows.protectLast), mostRows };
    case 1:
      return { tokens: room.tailTokens, wantRows: Math.min(floorRows, rows.protectLast), floorRows: 2, mostRows };
    case 2:
      return { tokens: Math.floor(room.tailTokens / 2), wantRows: 0, floorRows: 0, mostRows };
    default:
      throw level satisfies never;
  }
};

/**
 * Where the newest part begins, as an index into `rows`, oldest first. A message with tool calls and their results are one piece: they are kept or left
 * together. The last piece is kept whatever it weighs.
 */
export const tailStart = (rows: readonly BoundaryRow[], limits: TailLimits): number => {
  let start = rows.length;
  let kept = 0;
  let piece = 0;
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at]!;
    piece += row.tokens;
    if (row.role === 'tool' && at > 0) continue;
    const count = rows.length - at;
    const total = kept + piece;
    const fits = total <= limits.tokens || count <= limits.floorRows || (count <= limits.wantRows && total <= limits.tokens * softCeiling);
    if ((!fits || count > limits.mostRows) && start < rows.length) break;
    start = at;
    kept = total;
    piece = 0;
  }
  // An answer whose question is not there says little.
  return rows[start]?.role === 'assistant' && rows[start + 1]?.role === 'user' ? start + 1 : start;
};

/** Where the last `exchanges` begin. */
export const exchangesStart = (rows: readonly BoundaryRow[], exchanges: number): number => {
  let found = 0;
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    if (rows[at]?.role !== 'user') continue;
    found += 1;
    if (found === exchanges) return at;
  }
  return 0;
};

/** How many of the first rows are the beginning that stays: whole pieces that end with something of ours, within `tokens`. */
const headLength = (rows: readonly BoundaryRow[], limits: { readonly rows: number; readonly tokens: number }): number => {
  let length = Math.min(limits.rows, rows.length);
  const tokens = (): number => rows.slice(0, length).reduce((sum, row) => sum + row.tokens, 0);
  while (length > 0 && (rows[length]?.role === 'tool' || rows[length - 1]?.role === 'user' || tokens() > limits.tokens)) length -= 1;
  return length;
};

export interface HeadLimits {
  readonly protectFirst: number;
  readonly tokens: number;
  /** Until where a summary before has kept the beginning. */
  readonly keptThroughId: number | undefined;
}

/** Until where the beginning stays. Once it is chosen it never grows: what comes next to it later is not the beginning. */
export const headThrough = (first: readonly BoundaryRow[], { protectFirst, tokens, keptThroughId }: HeadLimits): number => {
  const rows = keptThroughId === undefined ? protectFirst : first.findLastIndex((row) => row.id <= keptThroughId) + 1;
  return first[headLength(first, { rows, tokens }) - 1]?.id ?? 0;
};

/** What people said last, before anything was answered: as indexes. */
const newestRequest = (rows: readonly BoundaryRow[]): readonly number[] => {
  const last = rows.findLastIndex((row) => row.role === 'user');
  const indexes: number[] = [];
  for (let at = last; at >= 0 && rows[at]?.role === 'user'; at -= 1) indexes.push(at);
  return indexes;
};

export interface BoundaryInput {
  readonly headThroughId: number;
  /** The newest rows behind the beginning, oldest first. */
  readonly newest: readonly BoundaryRow[];
  /** Index into `newest`. */
  readonly tailStart: number;
  /** Further messages that must stay. */
  readonly keepIds: readonly number[];
}

/** Between the beginning and the newest part lies what a summary can take the place of; what people asked for last stays although it may lie there. */
export const drawBoundaries = ({ headThroughId, newest, tailStart: start, keepIds }: BoundaryInput): Boundaries => {
  const tailFromId = newest[start]?.id ?? headThroughId + 1;
  const asked = newestRequest(newest).flatMap((at) => (at < start ? (newest[at]?.id ?? []) : []));
  const kept = [...asked, ...keepIds].filter((id) => id > headThroughId && id < tailFromId);
  return { headThroughId, tailFromId, keepIds: [...new Set(kept)].toSorted((a, b) => a - b) };
};
