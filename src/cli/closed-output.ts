/**
 * Whoever reads our output may leave, as `head` does. A command has nothing left to do then; a gateway (`goesOn`) has.
 */
export const leaveWhenNobodyReads = (goesOn: boolean): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (!goesOn) process.exit(0);
    });
  }
};
