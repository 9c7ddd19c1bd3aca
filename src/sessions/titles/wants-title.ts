import type { BegunTurn } from '../begin.ts';

/** A conversation whose first answers did not lead to a title goes without. */
const firstTurns = 2;

/** Whether the answer of a turn is the time to find a title: early in a conversation that a person has begun and nobody has named. */
export const wantsTitle = ({ session, last }: Pick<BegunTurn, 'session' | 'last'>): boolean => session.title === null && session.turnCount < firstTurns && last !== undefined && last.event.kind !== 'notice';
