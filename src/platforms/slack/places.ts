import type { Clock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import { isNewer, timestamp, tsToMs } from './wire.ts';

/** A channel, or a thread in one, where people have spoken with the agent. */
export interface Place {
  readonly teamId: string;
  readonly channelId: string;
  readonly threadTs?: string;
}

export interface SpokenPlace extends Place {
  /** The newest message there that is stored. */
  readonly lastTs: string;
}

/** Where people have spoken, and how far it is stored: what is looked at after a gap. */
export interface Places {
  /**
   * Everything up to `ts` is stored, or skipped on purpose. Only `remember` makes a place known, which then is durable when this resolves; how far a
   * known one is stored is written a little later.
   */
  reached(place: Place, ts: string, remember: boolean): Promise<void>;
  has(place: Place): boolean;
  /** How far a known place is stored now. */
  now(place: SpokenPlace): SpokenPlace;
  /** The places with the newest messages, newest first. */
  latest(count: number): readonly SpokenPlace[];
  /** Writes what is not written yet. */
  save(): Promise<void>;
}

const prefix = 'place:';
const keepMs = 30 * 24 * 3600_000;
const mostKept = 5000;
const saveEveryMs = 2000;

const nameOf = ({ teamId, channelId, threadTs }: Place): string => [teamId, channelId, ...(threadTs === undefined ? [] : [threadTs])].join(':');

const readPlace = (name: string, value: string): SpokenPlace | undefined => {
  const [teamId, channelId, thread] = name.split(':');
  const lastTs = timestamp(value);
  const threadTs = timestamp(thread);
  if (teamId === undefined || channelId === undefined || lastTs === undefined) return undefined;
  return { teamId, channelId, lastTs, ...(threadTs !== undefined && { threadTs }) };
};

/** Those worth remembering; the others are forgotten for good. */
const load = async (data: AccountData, nowMs: number): Promise<Map<string, SpokenPlace>> => {
  const found = (await data.list(prefix)).map(({ key, value }) => ({ key, place: readPlace(key.slice(prefix.length), value) }));
  const newestFirst = found.toSorted((a, b) => Number(b.place?.lastTs ?? 0) - Number(a.place?.lastTs ?? 0));
  const places = new Map<string, SpokenPlace>();
  for (const { key, place } of newestFirst) {
    if (place !== undefined && places.size < mostKept && nowMs - tsToMs(place.lastTs) < keepMs) places.set(key.slice(prefix.length), place);
    else await data.remove(key);
  }
  return places;
};

/** Makes a place known to whoever opens the places next. */
export const announcePlace = (data: AccountData, place: Place, ts: string): Promise<void> => data.set(`${prefix}${nameOf(place)}`, ts);

/** The place where nobody has spoken for the longest time. */
const oldestOf = (places: ReadonlyMap<string, SpokenPlace>): string | undefined => {
  let oldest: { readonly name: string; readonly lastTs: string } | undefined;
  for (const [name, { lastTs }] of places) if (oldest === undefined || isNewer(oldest.lastTs, lastTs)) oldest = { name, lastTs };
  return oldest?.name;
};

export const openPlaces = async (data: AccountData, clock: Clock): Promise<Places> => {
  const places = await load(data, clock.now());
  const unsaved = new Set<string>();
  let savedAtMs = clock.now();
  const save = async (): Promise<void> => {
    savedAtMs = clock.now();
    for (const name of unsaved) {
      unsaved.delete(name);
      const place = places.get(name);
      if (place !== undefined) await data.set(`${prefix}${name}`, place.lastTs);
    }
  };
  return {
    async reached(place, ts, remember) {
      const name = nameOf(place);
      const known = places.get(name);
      if (known === undefined ? !remember : !isNewer(ts, known.lastTs)) return;
      places.set(name, { ...place, lastTs: ts });
      unsaved.add(name);
      if (known === undefined || clock.now() - savedAtMs >= saveEveryMs) await save();
      const surplus = places.size > mostKept ? oldestOf(places) : undefined;
      if (surplus === undefined) return;
      places.delete(surplus);
      await data.remove(`${prefix}${surplus}`);
    },
    has: (place) => places.has(nameOf(place)),
    now: (place) => places.get(nameOf(place)) ?? place,
    latest: (count) => [...places.values()].toSorted((a, b) => Number(b.lastTs) - Number(a.lastTs)).slice(0, count),
    save,
  };
};
