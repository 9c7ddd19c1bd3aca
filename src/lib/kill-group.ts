/** Gone already, or somebody else's by now: there is nothing left that is ours to end. */
const notOurs: ReadonlySet<unknown> = new Set(['ESRCH', 'EPERM']);

/** Ends a process that leads a group, and everything in the group, at once. Where there are no groups, the process alone. */
export const killGroup = (leader: number): void => {
  // The system reads 0 and 1 as "our own group" and "everybody".
  if (!Number.isInteger(leader) || leader <= 1) throw new RangeError(`${leader} leads no group of ours`);
  try {
    process.kill(process.platform === 'win32' ? leader : -leader, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && notOurs.has(error.code))) throw error;
  }
};
