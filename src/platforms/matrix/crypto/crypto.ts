import { PlatformError } from '../../../core/errors.ts';
import { newChains } from '../../../lib/chains.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { AccountData } from '../../contract.ts';
import { newCheckBoard } from '../device-checks.ts';
import type { MatrixOptions } from '../options.ts';
import { probeType } from '../probe.ts';
import { integer, list, readEvent, record, text, texts } from '../wire.ts';
import type { Json, RoomEvent } from '../wire.ts';
import { newAudiences } from './audience.ts';
import type { Audience } from './audience.ts';
import { newMachine } from './machine.ts';
import type { Library, Work } from './machine.ts';
import { makeCalls, readRequest, settleCalls } from './requests.ts';
import type { Calling, KeyRequest } from './requests.ts';
import { signOurselves } from './cross-signing.ts';
import { newUndecrypted } from './undecrypted.ts';
import { newVerification } from './verification.ts';
import type { Verification } from './verification.ts';
import type { Undecrypted } from './undecrypted.ts';

/** End-to-end encryption of one account's device. */
export interface Crypto {
  /** Makes the device known to others. Called before following the stream. */
  start(signal: AbortSignal): Promise<void>;
  /** Takes keys out of an answer of the stream. Durable when it resolves. */
  receive(answer: Json, signal: AbortSignal): Promise<void>;
  /** Makes the calls that the keys need. */
  settle(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  /** Undefined when there is no key (yet). */
  decrypt(roomId: string, event: RoomEvent): Promise<RoomEvent | undefined>;
  /** What may be sent to the room in place of the event. Rejects rather than giving back anything that could be read. */
  encrypt(roomId: string, event: { readonly type: string; readonly content: Json }, signal: AbortSignal): Promise<Json>;
  noteMembers(roomId: string, room: Json): void;
  readonly undecrypted: Undecrypted;
  readonly verification: Verification;
}

export interface CryptoParts extends Pick<Calling, 'api' | 'post'> {
  readonly data: AccountData;
  readonly userId: string;
  readonly deviceId: string;
  readonly options: MatrixOptions;
  readonly clock: Clock;
  readonly log: Logger;
}

const counts = (value: unknown): Map<string, number> => new Map(Object.entries(record(value) ?? {}).flatMap(([name, count]) => (integer(count) === undefined ? [] : [[name, Number(count)] as const])));

const receiveChanges = async ({ olm, library }: Work, answer: Json): Promise<void> => {
  const toDevice = list(record(answer['to_device'])?.['events']).filter((event) => record(event)?.['type'] !== probeType);
  const users = (field: string) => texts(record(answer['device_lists'])?.[field]).map((id) => new library.UserId(id));
  const fallback = answer['device_unused_fallback_key_types'];
  await olm.receiveSyncChanges(
    JSON.stringify(toDevice),
    new library.DeviceLists(users('changed'), users('left')),
    counts(answer['device_one_time_keys_count']),
    Array.isArray(fallback) ? new Set(texts(fallback)) : undefined,
    new library.DecryptionSettings(library.TrustRequirement.Untrusted),
  );
};

const settingsOf = (library: typeof Library, audience: Audience, options: MatrixOptions): Library.EncryptionSettings => {
  const settings = new library.EncryptionSettings();
  settings.sharingStrategy = options.share_keys_with === 'verified_devices' ? library.CollectStrategy.onlyTrustedDevices() : library.CollectStrategy.allDevices();
  if (audience.rotationMessages !== undefined) settings.rotationPeriodMessages = BigInt(audience.rotationMessages);
  // The library counts microseconds.
  if (audience.rotationMs !== undefined) settings.rotationPeriod = BigInt(audience.rotationMs) * 1000n;
  return settings;
};

/** The event that was inside, with what only the outside says: where it hangs, and what became of it. */
const opened = (sealed: RoomEvent, inside: string): RoomEvent | undefined => {
  const raw = record(JSON.parse(inside));
  const content = record(raw?.['content']) ?? {};
  const relates = content['m.relates_to'] ?? sealed.content['m.relates_to'];
  const event = readEvent({ ...sealed.raw, type: raw?.['type'], content: { ...content, ...(relates !== undefined && { 'm.relates_to': relates }) } });
  return event && { ...event, wasEncrypted: true };
};

export const newCrypto = (parts: CryptoParts): Crypto => {
  const { api, data, options, userId, log, clock } = parts;
  const machine = newMachine(parts);
  const calling: Calling = { api, machine, log, post: parts.post };
  const audiences = newAudiences(api);
  const undecrypted = newUndecrypted({ data, clock, log });
  const verification = newVerification({ calling, board: newCheckBoard(data, () => clock.now()), clock, log });
  const chains = newChains();

  const requestsOf = (work: (work: Work) => Promise<readonly (KeyRequest | undefined)[]>): Promise<readonly KeyRequest[]> => machine.change(async (on) => (await work(on)).filter((request) => request !== undefined));

  /** Every device of the audience gets the key of the room before anything is written with it. */
  const shareKey = async (roomId: string, audience: Audience, signal: AbortSignal): Promise<void> => {
    const ids = (library: typeof Library) => audience.users.map((id) => new library.UserId(id));
    const queries = await requestsOf(async ({ olm, library }) => {
      await olm.updateTrackedUsers(ids(library));
      return (await olm.outgoingRequests()).map((request) => readRequest(library, request)).filter((request) => request?.kind === 'query' || request?.kind === 'upload');
    });
    await makeCalls(calling, queries, signal);
    const claims = await requestsOf(async ({ olm, library }) => {
      const missing = await olm.getMissingSessions(ids(library));
      return missing === null || missing === undefined ? [] : [readRequest(library, missing)];
    });
    await makeCalls(calling, claims, signal);
    const shares = await requestsOf(async ({ olm, library }) =>
      (await olm.shareRoomKey(new library.RoomId(roomId), ids(library), settingsOf(library, audience, options))).map((request) => readRequest(library, request)),
    );
    await makeCalls(calling, shares, signal);
  };

  return {
    undecrypted,
    verification,
    async start(signal) {
      audiences.following = true;
      await settleCalls(calling, signal);
      await signOurselves(calling, { userId, password: options.password, log }, signal);
    },
    async receive(answer, signal) {
      await verification.hear(answer, signal);
      await machine.change((work) => receiveChanges(work, answer));
      if (list(record(answer['to_device'])?.['events']).some((event) => record(event)?.['type'] === 'm.room.encrypted')) undecrypted.keysCame();
    },
    async settle(signal) {
      await settleCalls(calling, signal);
      await verification.advance(signal);
    },
    async stop() {
      audiences.following = false;
      audiences.forget();
      await machine.close();
    },
    decrypt: (roomId, event) =>
      machine.change(async ({ olm, library }) => {
        try {
          const { event: inside } = await olm.decryptRoomEvent(JSON.stringify({ ...event.raw, room_id: roomId }), new library.RoomId(roomId), new library.DecryptionSettings(library.TrustRequirement.Untrusted));
          return opened(event, inside);
        } catch (error) {
          if (!(error instanceof library.MegolmDecryptionError)) throw error;
          log.debug({ roomId, eventId: event.id, reason: error.description, withheld: error.withheldCode }, 'matrix.decryption_failed');
          return undefined;
        }
      }),
    encrypt: (roomId, event, signal) =>
      // One after another in a room: nobody writes with a key that another message is still sharing.
      chains.run(roomId, async () => {
        if (signal.aborted) throw new PlatformError('aborted', 'aborted');
        await shareKey(roomId, await audiences.of(roomId, signal), signal);
        const sealed = await machine.change(({ olm, library }) => olm.encryptRoomEvent(new library.RoomId(roomId), event.type, JSON.stringify(event.content)));
        const content = record(JSON.parse(sealed));
        if (content === undefined || text(content['ciphertext']) === undefined) throw new PlatformError('rejected', 'the message could not be encrypted');
        return content;
      }),
    noteMembers: (roomId, room) => audiences.note(roomId, room),
  };
};
