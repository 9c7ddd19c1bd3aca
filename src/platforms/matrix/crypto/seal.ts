import { PlatformError } from '../../../core/errors.ts';
import { record, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import type { Audience } from './audience.ts';
import { userIds } from './machine.ts';
import type { Library, Work } from './machine.ts';
import { makeCalls, readRequest } from './requests.ts';
import type { Calling, KeyRequest } from './requests.ts';

export interface Sealing {
  readonly roomId: string;
  readonly type: string;
  readonly content: Json;
  readonly audience: Audience;
  readonly verifiedOnly: boolean;
}

/** What has to be known and done before anything is written, in this order: whose devices there are, a way to each of them, the room's key on each. */
const stages = ['devices', 'ways', 'keys', 'seal'] as const;

type Step = { readonly calls: readonly KeyRequest[]; readonly next: number } | { readonly sealed: string };

const settingsOf = (library: typeof Library, { audience, verifiedOnly }: Sealing): Library.EncryptionSettings => {
  const settings = new library.EncryptionSettings();
  settings.sharingStrategy = verifiedOnly ? library.CollectStrategy.onlyTrustedDevices() : library.CollectStrategy.allDevices();
  if (audience.rotationMessages !== undefined) settings.rotationPeriodMessages = BigInt(audience.rotationMessages);
  // The library counts microseconds.
  if (audience.rotationMs !== undefined) settings.rotationPeriod = BigInt(audience.rotationMs) * 1000n;
  return settings;
};

const callsOf = async ({ olm, library }: Work, stage: (typeof stages)[number], sealing: Sealing): Promise<readonly KeyRequest[]> => {
  const users = (): Library.UserId[] => userIds(library, sealing.audience.users);
  switch (stage) {
    case 'devices': {
      await olm.updateTrackedUsers(users());
      const wanted = (await olm.outgoingRequests()).map((request) => readRequest(library, request));
      return wanted.filter((request) => request?.kind === 'query' || request?.kind === 'upload').filter((request) => request !== undefined);
    }
    case 'ways': {
      const missing = await olm.getMissingSessions(users());
      return [missing === null || missing === undefined ? undefined : readRequest(library, missing)].filter((request) => request !== undefined);
    }
    case 'keys': {
      const shares = await olm.shareRoomKey(new library.RoomId(sealing.roomId), users(), settingsOf(library, sealing));
      return shares.map((request) => readRequest(library, request)).filter((request) => request !== undefined);
    }
    case 'seal':
      return [];
    default:
      return stage satisfies never;
  }
};

/** Goes on from a stage to the first that needs calls; when none does, the event is sealed in the same breath. */
const advance = async (work: Work, sealing: Sealing, from: number): Promise<Step> => {
  for (const [index, stage] of stages.entries()) {
    const calls = index < from ? [] : await callsOf(work, stage, sealing);
    if (calls.length > 0) return { calls, next: index + 1 };
  }
  return { sealed: await work.olm.encryptRoomEvent(new work.library.RoomId(sealing.roomId), sealing.type, JSON.stringify(sealing.content)) };
};

/** What may be sent in place of the event. Every device of the audience has the room's key before anything is written with it; when one of these steps fails, nothing is. */
export const seal = async (calling: Calling, sealing: Sealing, signal: AbortSignal): Promise<Json> => {
  for (let from = 0; ; ) {
    const step = await calling.machine.change((work) => advance(work, sealing, from));
    if ('calls' in step) {
      await makeCalls(calling, step.calls, signal);
      from = step.next;
      continue;
    }
    const content = record(JSON.parse(step.sealed));
    if (content === undefined || text(content['ciphertext']) === undefined) throw new PlatformError('rejected', 'the message could not be encrypted');
    return content;
  }
};
