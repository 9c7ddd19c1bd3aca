import { randomUUID } from 'node:crypto';
import type { AccountData, DeviceCheck, DeviceChecks } from '../contract.ts';
import { integer, record, text } from './wire.ts';

const checkPrefix = 'check:';
const wishPrefix = 'check-wish:';

/** Longer than a verification may take. */
const keepMs = 15 * 60_000;

/** What somebody at a terminal or at the page wants; the gateway that runs the account does it. */
export type CheckWish =
  | { readonly type: 'begin'; readonly userId: string; readonly deviceId?: string }
  | { readonly type: 'answer'; readonly id: string; readonly same: boolean };

/** A check, and the room it goes through if it goes through one. */
export interface ShownCheck {
  readonly check: DeviceCheck;
  readonly roomId?: string;
}

const readCheck = (value: string): (ShownCheck & { readonly atMs: number }) | undefined => {
  const stored = record(JSON.parse(value));
  const [atMs, roomId] = [integer(stored?.['atMs']), text(stored?.['roomId'])];
  return stored === undefined || atMs === undefined ? undefined : { check: stored['check'] as DeviceCheck, atMs, ...(roomId !== undefined && { roomId }) };
};

export const isOver = ({ state }: DeviceCheck): boolean => state === 'done' || state === 'cancelled';

/** The side of those who look and decide. */
export const newDeviceChecks = (data: AccountData, now: () => number): DeviceChecks => {
  const wish = (wanted: CheckWish): Promise<void> => data.set(`${wishPrefix}${randomUUID()}`, JSON.stringify({ atMs: now(), wanted }));
  return {
    async list() {
      const rows = (await data.list(checkPrefix)).map(({ value }) => readCheck(value)).filter((row) => row !== undefined);
      return rows.filter(({ atMs }) => now() - atMs < keepMs).toSorted((a, b) => a.atMs - b.atMs).map(({ check }) => check);
    },
    begin: (userId, deviceId) => wish({ type: 'begin', userId, ...(deviceId !== undefined && { deviceId }) }),
    answer: (id, same) => wish({ type: 'answer', id, same }),
  };
};

/** The side of the gateway that runs the account. */
export interface CheckBoard {
  /** Takes what is wanted; of several gateways one gets each. What nobody did in time is dropped. */
  wishes(): Promise<readonly CheckWish[]>;
  show(shown: ShownCheck): Promise<void>;
  /** Those that were shown and not seen to end, also by a gateway that ran the account before. */
  unfinished(): Promise<readonly ShownCheck[]>;
  /** Forgets what is over for long. */
  tidy(): Promise<void>;
}

export const newCheckBoard = (data: AccountData, now: () => number): CheckBoard => ({
  async wishes() {
    const taken: CheckWish[] = [];
    for (const { key, value } of await data.list(wishPrefix)) {
      const stored = record(JSON.parse(value));
      const isFresh = now() - (integer(stored?.['atMs']) ?? 0) < keepMs;
      if ((await data.remove(key)) && isFresh && text(record(stored?.['wanted'])?.['type']) !== undefined) taken.push(stored?.['wanted'] as CheckWish);
    }
    return taken;
  },
  async show({ check, roomId }) {
    const key = checkPrefix + check.id;
    const before = await data.get(key);
    if (before !== undefined && JSON.stringify(readCheck(before)?.check) === JSON.stringify(check)) return;
    await data.set(key, JSON.stringify({ atMs: now(), check, ...(roomId !== undefined && { roomId }) }));
  },
  async unfinished() {
    const rows = (await data.list(checkPrefix)).map(({ value }) => readCheck(value)).filter((row) => row !== undefined);
    return rows.filter(({ check }) => !isOver(check));
  },
  async tidy() {
    for (const { key, value } of await data.list(checkPrefix)) if (now() - (readCheck(value)?.atMs ?? 0) > keepMs) await data.remove(key);
  },
});
