import type { TurnEvent } from '../core/turn.ts';
import type { TurnLimits } from './contract.ts';
import type { TurnEnded } from './turn-watch.ts';

const span = (ms: number): string => {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.max(1, Math.round(ms / 1000))} s`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
};

/** The last event of a turn that somebody or a deadline has ended. */
export const endOfTurn = ({ ending }: TurnEnded, limits: TurnLimits): Extract<TurnEvent, { type: 'end' }> => {
  switch (ending) {
    case 'interrupted':
    case 'stopped':
    case 'suspended':
      return { type: 'end', reason: ending };
    case 'idle':
      return { type: 'end', reason: 'deadline', error: { code: 'idle', sentence: `I stopped because nothing moved for ${span(limits.activityMs)}.` } };
    case 'overdue':
      return { type: 'end', reason: 'deadline', error: { code: 'overdue', sentence: `I stopped because this took longer than ${span(limits.totalMs)}.` } };
    default:
      return ending satisfies never;
  }
};
