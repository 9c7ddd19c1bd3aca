import { PlatformError } from '../../../core/errors.ts';
import { newChains } from '../../../lib/chains.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { AccountData } from '../../contract.ts';
import { newCheckBoard } from '../device-checks.ts';
import type { MatrixOptions } from '../options.ts';
import { probeType } from '../probe.ts';
import { integer, list, readEvent, record, texts } from '../wire.ts';
import type { Json, RoomEvent } from '../wire.ts';
import { newAudiences } from './audience.ts';
import { newMachine, userIds } from './machine.ts';
import type { Work } from './machine.ts';
import { settleCalls } from './requests.ts';
import type { Calling } from './requests.ts';
import { seal } from './seal.ts';
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
  const users = (field: string) => userIds(library, texts(record(answer['device_lists'])?.[field]));
  const fallback = answer['device_unused_fallback_key_types'];
  await olm.receiveSyncChanges(
    JSON.stringify(toDevice),
    new library.DeviceLists(users('changed'), users('left')),
    counts(answer['device_one_time_keys_count']),
    Array.isArray(fallback) ? new Set(texts(fallback)) : undefined,
    new library.DecryptionSettings(library.TrustRequirement.Untrusted),
  );
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
          // Whatever is wrong with one event, even one that was made to be wrong, must not keep those behind it from being read.
          const isKnown = error instanceof library.MegolmDecryptionError;
          log.debug({ roomId, eventId: event.id, reason: isKnown ? error.description : String(error), ...(isKnown && { withheld: error.withheldCode }) }, 'matrix.decryption_failed');
          return undefined;
        }
      }),
    encrypt: (roomId, event, signal) =>
      // One after another in a room: nobody writes with a key that another message is still sharing.
      chains.run(roomId, async () => {
        if (signal.aborted) throw new PlatformError('aborted', 'aborted');
        const audience = await audiences.of(roomId, signal);
        return seal(calling, { roomId, ...event, audience, verifiedOnly: options.share_keys_with === 'verified_devices' }, signal);
      }),
    noteMembers: (roomId, room) => audiences.note(roomId, room),
  };
};
