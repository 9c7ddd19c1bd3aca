import { callOfTurn, rowsOfTurn } from '../../store/api/api-calls.ts';
import type { SettleTurn } from '../../sessions/turn-policy.ts';
import type { RunningTurn } from '../../store/sessions/turns.ts';
import { endCall } from './end-call.ts';
import { apiAccount } from './place.ts';

/** Keeps how the turn of a call ended, for whoever asks later; nothing is sent anywhere. Undefined for every other turn. */
export const settleApiCall = (turn: RunningTurn): SettleTurn | undefined => {
  if (turn.target.account !== apiAccount) return undefined;
  return async (tx, { reason, error, errorCode, usage }) => {
    const id = await callOfTurn(tx, turn.id);
    if (id === undefined) return;
    const { rows, throughId } = await rowsOfTurn(tx, { sessionId: turn.sessionId, turnId: turn.id });
    await endCall(tx, { id, sessionId: turn.sessionId }, { reason, error, rows, usage, throughId, ...(errorCode !== undefined && { errorCode }) });
  };
};
