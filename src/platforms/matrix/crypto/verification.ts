import { newChains } from '../../../lib/chains.ts';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { DeviceCheck } from '../../contract.ts';
import type { CheckBoard, CheckWish } from '../device-checks.ts';
import { list, record, text } from '../wire.ts';
import type { Json, RoomEvent } from '../wire.ts';
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
/** Anybody in the federation can ask. */
const mostPeople = 100;

const stateOf = (library: typeof Library, request: Request): DeviceCheck['state'] => {
  if (request.isDone()) return 'done';
  if (request.isCancelled()) return 'cancelled';
  const sas = request.getVerification();
  if (!(sas instanceof library.Sas) || !sas.canBePresented()) return 'waiting';
  return sas.haveWeConfirmed() ? 'confirmed' : 'compare';
};

const viewOf = (library: typeof Library, request: Request): DeviceCheck => {
  const sas = request.getVerification();
  const shown = sas instanceof library.Sas && sas.canBePresented() ? (sas.emoji() ?? []) : [];
  const deviceId = request.otherDeviceId?.toString();
  const reason = request.cancelInfo?.reason();
  return {
    id: request.flowId,
    userId: request.otherUserId.toString(),
    state: stateOf(library, request),
    emoji: shown.map(({ symbol, description }) => ({ symbol, name: description })),
    ...(deviceId !== undefined && { deviceId }),
    ...(reason !== undefined && { reason }),
  };
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

const beginWith = async ({ olm, library }: Work, userId: string, deviceId: string | undefined): Promise<readonly KeyRequest[]> => {
  const [person] = userIds(library, [userId]);
  if (person === undefined) return [];
  const devices = await olm.getUserDevices(person, 1);
  const own = olm.deviceId.toString();
  const wanted = devices.devices().filter((device) => device.deviceId.toString() !== own && (deviceId === undefined || device.deviceId.toString() === deviceId));
  const asked = wanted.map((device) => readRequest(library, device.requestVerification([library.VerificationMethod.SasV1])[1]));
  return asked.filter((request) => request !== undefined);
};

/** Verification by emoji. Requests are answered by themselves; whether both sides show the same only a person can say. */
export const newVerification = ({ calling, board, clock, log }: VerificationParts): Verification => {
  const people = new Set<string>();
  const answers = new Map<string, Answer>();
  const { machine } = calling;
  const chains = newChains();

  const step = async (signal: AbortSignal): Promise<void> => {
    const { calls, checks } = await machine.change(async (work) => {
      const requests = [...people].flatMap((userId) => userIds(work.library, [userId]).flatMap((id) => work.olm.getVerificationRequests(id)));
      const made: KeyRequest[] = [];
      for (const request of requests) {
        for (const each of await stepOf(work, request, answers.get(request.flowId))) {
          const call = each === undefined ? undefined : readRequest(work.library, each);
          if (call !== undefined) made.push(call);
        }
      }
      return { calls: made, checks: requests.map((request) => viewOf(work.library, request)) };
    });
    for (const check of checks) {
      if (check.state !== 'compare') answers.delete(check.id);
      await board.show(check);
    }
    await makeCalls(calling, calls, signal);
    // What was confirmed is signed, and others have to see the signature.
    if (calls.length > 0) await settleCalls(calling, signal);
  };

  /** One after another: each step is made once, and what is shown is never older than what was shown before. */
  const advance = async (signal: AbortSignal): Promise<void> => {
    if (people.size > 0) await chains.run('', () => step(signal));
  };

  const meet = async (userId: string, signal: AbortSignal): Promise<void> => {
    if (people.has(userId) || people.size >= mostPeople) return;
    await machine.change(({ olm, library }) => olm.updateTrackedUsers(userIds(library, [userId])));
    await settleCalls(calling, signal);
    people.add(userId);
  };

  const grant = async (wish: CheckWish, signal: AbortSignal): Promise<void> => {
    if (wish.type === 'answer') {
      answers.set(wish.id, wish.same ? 'same' : 'different');
      return;
    }
    await meet(wish.userId, signal);
    const requests = await machine.change((work) => beginWith(work, wish.userId, wish.deviceId));
    log.info({ userId: wish.userId, devices: requests.length }, 'matrix.verification.asked');
    await makeCalls(calling, requests, signal);
  };

  return {
    advance,
    async hear(answer, signal) {
      for (const event of list(record(answer['to_device'])?.['events']).map(record)) {
        const sender = text(event?.['sender']);
        if (sender !== undefined && text(event?.['type'])?.startsWith('m.key.verification.') === true) await meet(sender, signal);
      }
    },
    async hearRoom(roomId, event, signal) {
      await meet(event.sender, signal);
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
      while (await slept(clock, lookEveryMs, signal)) {
        const wishes = await board.wishes();
        for (const wish of wishes) await grant(wish, signal);
        if (wishes.length > 0) await advance(signal);
      }
    },
  };
};
