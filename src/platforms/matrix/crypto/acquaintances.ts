import { userIds } from './machine.ts';
import type { Work } from './machine.ts';
import { readRequest, settleCalls, tryCalls } from './requests.ts';
import type { Calling, KeyRequest } from './requests.ts';

/** Whose event came, and from which device as far as it says so. */
export interface Heard {
  readonly userId: string;
  readonly deviceId?: string | undefined;
}

export interface Acquaintances {
  readonly people: ReadonlySet<string>;
  /** Gets to know people and the devices they speak from. The machine drops what comes from a device that it does not know, and the other side would wait in vain. */
  meet(heard: readonly Heard[], signal: AbortSignal): Promise<void>;
}

/** Anybody in the federation can ask. */
const mostPeople = 100;

/** A device can be newer than what is known of its owner: the answer that brings its first event may be the one that says that there is a new device. */
const queryForUnknown = async ({ olm, library }: Work, heard: readonly Heard[]): Promise<readonly KeyRequest[]> => {
  const unknown = new Set<string>();
  for (const { userId, deviceId } of heard) {
    const [user] = deviceId === undefined ? [] : userIds(library, [userId]);
    if (user !== undefined && deviceId !== undefined && (await olm.getDevice(user, new library.DeviceId(deviceId))) === undefined) unknown.add(userId);
  }
  const query = unknown.size === 0 ? undefined : readRequest(library, olm.queryKeysForUsers(userIds(library, [...unknown])));
  return query === undefined ? [] : [query];
};

export const newAcquaintances = (calling: Calling): Acquaintances => {
  const { machine } = calling;
  const people = new Set<string>();

  const follow = async (userId: string, signal: AbortSignal): Promise<void> => {
    if (people.has(userId) || people.size >= mostPeople) return;
    await machine.change(({ olm, library }) => olm.updateTrackedUsers(userIds(library, [userId])));
    await settleCalls(calling, signal);
    people.add(userId);
  };

  return {
    people,
    async meet(heard, signal) {
      for (const { userId } of heard) await follow(userId, signal);
      const met = heard.filter(({ userId, deviceId }) => deviceId !== undefined && people.has(userId));
      if (met.length > 0) await tryCalls(calling, await machine.change((work) => queryForUnknown(work, met)), signal);
    },
  };
};
