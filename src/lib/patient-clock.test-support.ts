import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';

/** For work that has only so much time: it is not up because the machine is slow. */
export const patientClock: Clock = { now: () => systemClock.now(), sleep: (ms, signal) => systemClock.sleep(ms * 20, signal) };
