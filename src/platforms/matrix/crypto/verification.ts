import { randomUUID } from 'node:crypto';
import { newChains } from '../../../lib/chains.ts';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { DeviceCheck } from '../../contract.ts';
import type { CheckBoard, CheckWish, ShownCheck } from '../device-checks.ts';
import { list, record, text } from '../wire.ts';
import type { Json, RoomEvent } from '../wire.ts';
import { newAcquaintances } from './acquaintances.ts';
import { newChecksUnderWay } from './checks-under-way.ts';
import { userIds } from './machine.ts';
import type { Library, Work } from './machine.ts';
import { makeCalls, readRequest, settleCalls } from './requests.ts';
import type { Calling, KeyRequest } from './requests.ts';

type Request = Library.VerificationRequest;
type Answer = 'same' | 'different';

const requestType = 'm.key.verification.request';

/** Whether an event belongs to the verification of devices; it is nothing that anybody says. */
export const isVerification = ({ type, content }: Pick<RoomEvent, 'type' | 'content'>): boolean => type.startsWith('m.key.verification.') || text(content['msgtype']) === requestType;

export interface Verification {
  /** Somebody may ask, or go on. Their devices have to be known before the machine is told. */
  hear(answer: Json, signal: AbortSignal): Promise<void>;
  /** A step of a verification that goes through a room. */
  hearRoom(roomId: string, event: RoomEvent, signal: AbortSignal): Promise<void>;
  /** Goes on with everything that is under way. */
  advance(signal: AbortSignal): Promise<void>;
  /** Looks for what the owner wants, until aborted. */
  attend(signal: AbortSignal): Promise<void>;
}

export interface VerificationParts {
  readonly calling: Calling;
  readonly board: CheckBoard;
  readonly clock: Clock;
  readonly log: Logger;
}

const lookEveryMs = 1000;

const stateOf = (library: typeof Library, request: Request): DeviceCheck['state'] => {
  if (request.isDone()) return 'done';
  if (request.isCancelled()) return 'cancelled';
  const sas = request.getVerification();
  if (!(sas instanceof library.Sas) || !sas.canBePresented()) return 'waiting';
  return sas.haveWeConfirmed() ? 'confirmed' : 'compare';
};

const viewOf = (library: typeof Library, request: Request): ShownCheck => {
  const sas = request.getVerification();
  const shown = sas instanceof library.Sas && sas.canBePresented() ? (sas.emoji() ?? []) : [];
  const [deviceId, roomId] = [request.otherDeviceId?.toString(), request.roomId?.toString()];
  const reason = request.cancelInfo?.reason();
  const check: DeviceCheck = {
    id: request.flowId,
    userId: request.otherUserId.toString(),
    state: stateOf(library, request),
    emoji: shown.map(({ symbol, description }) => ({ symbol, name: description })),
    ...(deviceId !== undefined && { deviceId }),
    ...(reason !== undefined && { reason }),
  };
  return { check, ...(roomId !== undefined && { roomId }) };
};

/** The next step of one verification, as far as it needs nobody's decision. */
const stepOf = async ({ library }: Work, request: Request, answer: Answer | undefined): Promise<readonly (Library.ToDeviceRequest | Library.RoomMessageRequest | undefined)[]> => {
  if (request.isDone() || request.isCancelled()) return [];
  const { Requested, Ready } = library.VerificationRequestPhase;
  if (request.phase() === Requested && !request.weStarted()) return [request.acceptWithMethods([library.VerificationMethod.SasV1])];
  if (request.phase() === Ready && request.weStarted()) return [(await request.startSas())?.[1]];
  const sas = request.getVerification();
  if (!(sas instanceof library.Sas)) return [];
  if (!sas.weStarted() && !sas.hasBeenAccepted()) return [sas.accept()];
  if (!sas.canBePresented() || answer === undefined) return [];
  return answer === 'same' ? sas.confirm() : [sas.cancelWithCode('m.mismatched_sas')];
};

interface Begun {
  readonly shown: ShownCheck;
  readonly call: KeyRequest;
}

const beginWith = async ({ olm, library }: Work, userId: string, deviceId: string | undefined): Promise<readonly Begun[]> => {
  const [person] = userIds(library, [userId]);
  if (person === undefined) return [];
  const devices = await olm.getUserDevices(person, 1);
  const own = olm.deviceId.toString();
  const wanted = devices.devices().filter((device) => device.deviceId.toString() !== own && (deviceId === undefined || device.deviceId.toString() === deviceId));
  return wanted.flatMap((device) => {
    const [request, asking] = device.requestVerification([library.VerificationMethod.SasV1]);
    const call = readRequest(library, asking);
    return call === undefined ? [] : [{ shown: viewOf(library, request), call }];
  });
};

/** What the owner sees when there is nobody to ask. */
const nobody = (userId: string, deviceId: string | undefined): ShownCheck => {
  const reason = deviceId === undefined ? `no device of ${userId} that encrypts is known to the homeserver` : `${userId} has no device ${deviceId} that encrypts`;
  return { check: { id: randomUUID(), userId, state: 'cancelled', emoji: [], reason, ...(deviceId !== undefined && { deviceId }) } };
};

/** Verification by emoji. Requests are answered by themselves; whether both sides show the same only a person can say. */
export const newVerification = ({ calling, board, clock, log }: VerificationParts): Verification => {
  const answers = new Map<string, Answer>();
  const { machine } = calling;
  const { people, meet } = newAcquaintances(calling);
  const underWay = newChecksUnderWay(calling, board);
  const chains = newChains();

  const step = async (signal: AbortSignal): Promise<void> => {
    const { calls, shown } = await machine.change(async (work) => {
      const requests = [...people].flatMap((userId) => userIds(work.library, [userId]).flatMap((id) => work.olm.getVerificationRequests(id)));
      const made: KeyRequest[] = [];
      for (const request of requests) {
        for (const each of await stepOf(work, request, answers.get(request.flowId))) {
          const call = each === undefined ? undefined : readRequest(work.library, each);
          if (call !== undefined) made.push(call);
        }
      }
      return { calls: made, shown: requests.map((request) => viewOf(work.library, request)) };
    });
    for (const each of shown) await underWay.show(each);
    await underWay.endLost(new Set(shown.map(({ check }) => check.id)), signal);
    const comparing = new Set(shown.filter(({ check }) => check.state === 'compare').map(({ check }) => check.id));
    for (const id of answers.keys()) if (!comparing.has(id)) answers.delete(id);
    await makeCalls(calling, calls, signal);
    // What was confirmed is signed, and others have to see the signature.
    if (calls.length > 0) await settleCalls(calling, signal);
  };

  /** One after another: each step is made once, what is shown is never older than what was shown before, and what has just begun is not taken for lost. */
  const advance = async (signal: AbortSignal): Promise<void> => {
    if (people.size > 0 || !underWay.isEmpty()) await chains.run('', () => step(signal));
  };

  const ask = async (userId: string, deviceId: string | undefined, signal: AbortSignal): Promise<void> => {
    const begun = await machine.change((work) => beginWith(work, userId, deviceId));
    log.info({ userId, devices: begun.length }, 'matrix.verification.asked');
    if (begun.length === 0) await underWay.show(nobody(userId, deviceId));
    // Shown before it is asked for: when the asking fails, the next connection has to know that somebody waits.
    for (const { shown } of begun) await underWay.show(shown);
    await makeCalls(calling, begun.map(({ call }) => call), signal);
  };

  const grant = async (wish: CheckWish, signal: AbortSignal): Promise<void> => {
    if (wish.type === 'answer') {
      answers.set(wish.id, wish.same ? 'same' : 'different');
      return;
    }
    await meet([wish], signal);
    await chains.run('', () => ask(wish.userId, wish.deviceId, signal));
  };

  return {
    advance,
    async hear(answer, signal) {
      const events = list(record(answer['to_device'])?.['events']).map(record).filter((event) => text(event?.['type'])?.startsWith('m.key.verification.') === true);
      await meet(events.flatMap((event) => {
        const userId = text(event?.['sender']);
        return userId === undefined ? [] : [{ userId, deviceId: text(record(event?.['content'])?.['from_device']) }];
      }), signal);
    },
    async hearRoom(roomId, event, signal) {
      await meet([{ userId: event.sender, deviceId: text(event.content['from_device']) }], signal);
      await machine.change(async ({ olm, library }) => {
        try {
          await olm.receiveVerificationEvent(JSON.stringify({ ...event.raw, room_id: roomId }), new library.RoomId(roomId));
        } catch (error) {
          log.info({ roomId, eventId: event.id, reason: String(error) }, 'matrix.verification.malformed');
        }
      });
    },
    async attend(signal) {
      await board.tidy();
      await chains.run('', underWay.recall);
      await advance(signal);
      while (await slept(clock, lookEveryMs, signal)) {
        const wishes = await board.wishes();
        for (const wish of wishes) await grant(wish, signal);
        if (wishes.length > 0) await advance(signal);
      }
    },
  };
};
