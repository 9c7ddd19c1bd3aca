import { randomUUID } from 'node:crypto';
import { isOver } from '../device-checks.ts';
import type { CheckBoard, ShownCheck } from '../device-checks.ts';
import { isFinal } from './requests.ts';
import type { Calling } from './requests.ts';

/** Checks that somebody has seen begin and not end. */
export interface ChecksUnderWay {
  isEmpty(): boolean;
  /** Finds those that an earlier connection has left, also one of another gateway. */
  recall(): Promise<void>;
  show(shown: ShownCheck): Promise<void>;
  /** Ends those that the machine does not know, for us and for the other side. It keeps them in memory only, and they cannot be gone on with. */
  endLost(known: ReadonlySet<string>, signal: AbortSignal): Promise<void>;
}

const lostReason = 'the gateway was connected anew in the meantime; please begin again';

/** Without that the other side would wait until its patience ends, for ten minutes. */
const takeLeave = async ({ api, post }: Calling, { check, roomId }: ShownCheck, signal: AbortSignal): Promise<void> => {
  const type = 'm.key.verification.cancel';
  const content = { code: 'm.unknown_transaction', reason: lostReason };
  if (roomId !== undefined) await post({ roomId, type, txn: randomUUID(), content: { ...content, 'm.relates_to': { rel_type: 'm.reference', event_id: check.id } } }, signal);
  else await api.sendToDevice(type, randomUUID(), { [check.userId]: { [check.deviceId ?? '*']: { ...content, transaction_id: check.id } } }, signal);
};

export const newChecksUnderWay = (calling: Calling, board: CheckBoard): ChecksUnderWay => {
  const underWay = new Map<string, ShownCheck>();

  const show = async (shown: ShownCheck): Promise<void> => {
    if (isOver(shown.check)) underWay.delete(shown.check.id);
    else underWay.set(shown.check.id, shown);
    await board.show(shown);
  };

  return {
    isEmpty: () => underWay.size === 0,
    async recall() {
      for (const shown of await board.unfinished()) underWay.set(shown.check.id, shown);
    },
    show,
    async endLost(known, signal) {
      for (const lost of [...underWay.values()].filter(({ check }) => !known.has(check.id))) {
        await show({ check: { ...lost.check, state: 'cancelled', emoji: [], reason: lostReason } });
        try {
          await takeLeave(calling, lost, signal);
        } catch (error) {
          if (!isFinal(error)) throw error;
          calling.log.info({ err: error, userId: lost.check.userId }, 'matrix.verification.cancel_refused');
        }
      }
    },
  };
};
