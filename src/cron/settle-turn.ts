import type { ExitReason } from '../core/turn.ts';
import { isSilentResult } from '../delivery/silence.ts';
import type { SettleTurn, TurnOutcome } from '../sessions/turn-policy.ts';
import { cronAccount, keepResult, runOfSession } from '../store/cron/cron-runs.ts';
import type { RunResult } from '../store/cron/cron-runs.ts';
import type { RunningTurn } from '../store/sessions/turns.ts';

/** The result that an answer stands for. */
export const resultOfText = (text: string): RunResult => {
  if (text.trim() === '') return { state: 'failed', error: 'there was no answer' };
  return { state: isSilentResult(text) ? 'silent' : 'ok', output: text };
};

const resultOfTurn = ({ reason, error, text }: TurnOutcome): RunResult => {
  const end: ExitReason = reason;
  switch (end) {
    case 'completed':
    case 'silent':
    case 'limit':
      return resultOfText(text);
    case 'stopped':
    case 'interrupted':
      return { state: 'stopped', output: text };
    case 'deadline':
      return { state: 'timed_out', output: text, error: error ?? 'the turn took too long' };
    case 'set_aside':
      return { state: 'failed', error: 'each try ended with a crash of the gateway' };
    case 'cut_off':
      return { state: 'interrupted', error: 'it was cut off when the gateway ended, too long ago to go on by itself' };
    case 'model_error':
    case 'internal_error':
    case 'suspended':
      return { state: 'failed', output: text, error: error ?? 'the agent broke off' };
    default:
      throw end satisfies never;
  }
};

/** Keeps how the turn of a job ended, for the runner to go on from. Undefined for every other turn. */
export const settleCronTurn = (turn: RunningTurn): SettleTurn | undefined => {
  if (turn.target.account !== cronAccount) return undefined;
  return async (tx, outcome) => {
    const run = await runOfSession(tx, turn.sessionId);
    if (run !== undefined) await keepResult(tx, run.id, { ...resultOfTurn(outcome), turnId: turn.id });
  };
};
