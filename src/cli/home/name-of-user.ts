import { spawnSync } from 'node:child_process';

/** The name of a user of this machine; the number itself for one that has none. */
export const nameOfUser = (uid: number): string => spawnSync('id', ['-un', String(uid)], { encoding: 'utf8' }).stdout?.trim() || String(uid);
