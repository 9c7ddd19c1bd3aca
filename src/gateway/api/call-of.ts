import type { BegunTurn } from '../../sessions/begin.ts';
import { apiAccount } from './place.ts';

const runPrefix = 'run_';

export const newRunId = (hex: string): string => `${runPrefix}${hex}`;

/** Whether the id of a call is that of a run. */
export const isRun = (callId: string): boolean => callId.startsWith(runPrefix);

/** Names what is said to a run while it goes on; `isRun` of it is the run's. */
export const steerId = (runId: string, mark: string): string => `${runId}:${mark}`;

/** The call that a turn answers: what was said to it later bears its name. Undefined for a turn that answers none. */
export const callOf = ({ turn, last }: BegunTurn): string | undefined => (turn.target.account === apiAccount ? last?.event.nativeId.split(':', 1)[0] : undefined);
