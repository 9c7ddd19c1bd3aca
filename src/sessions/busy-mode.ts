/** What a message does that arrives while a turn runs. */
export type BusyMode = 'interrupt' | 'queue' | 'steer';

export const busyModes: readonly BusyMode[] = ['interrupt', 'queue', 'steer'];
