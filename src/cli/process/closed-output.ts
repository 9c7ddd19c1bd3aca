/**
 * Whoever reads our output may leave, as `head` does, and the disk that it goes to may be full. A command has nothing left to do then; a gateway (`goesOn`) has, and
 * its log is elsewhere.
 */
export const leaveWhenNobodyReads = (goesOn: boolean): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (goesOn) return;
      if (error.code !== 'EPIPE') throw error;
      process.exit(0);
    });
  }
};
