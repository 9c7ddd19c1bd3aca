/** How far a folder is read. Numbers mean something only as long as the folder's validity stays the same. */
export interface Place {
  readonly uidValidity: string;
  /** Everything up to this number is stored. */
  readonly uid: number;
  readonly atMs: number;
  /** When the folder was seen for the first time; what was written before is none of our business. */
  readonly sinceMs: number;
}

export const cursorName = (folder: string): string => `uid:${folder}`;

export const writePlace = ({ uidValidity, uid, atMs, sinceMs }: Place): string => `${uidValidity}:${uid}@${atMs}/${sinceMs}`;

export const readPlace = (value: string | undefined): Place | undefined => {
  const [, uidValidity = '', uid = '', atMs = '', sinceMs = ''] = /^(\d+):(\d+)@(\d+)\/(\d+)$/.exec(value ?? '') ?? [];
  return uidValidity === '' ? undefined : { uidValidity, uid: Number(uid), atMs: Number(atMs), sinceMs: Number(sinceMs) };
};

const dayMs = 24 * 3600 * 1000;

/** When a folder is numbered anew, mail since this long before the last position is read again; the inbox knows what it has. */
export const rereadMs = 2 * dayMs;

/** Clocks of senders differ, and mail takes its time. */
const leewayMs = 3600 * 1000;

/** Restored mail can look as if it had arrived just now, so that only what it says itself tells whether it is old. */
export const isOldNews = (writtenAtMs: number | undefined, place: Place): boolean => writtenAtMs !== undefined && writtenAtMs < Math.max(place.sinceMs - leewayMs, place.atMs - rereadMs - dayMs);
