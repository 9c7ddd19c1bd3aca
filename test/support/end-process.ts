/** Ends a process by the number that a file or an output names, unless it has gone. What is no number yet would be read as "our own group", the runner of the tests among it. */
export const endProcess = (pid: number): void => {
  if (!Number.isInteger(pid) || pid <= 1) throw new RangeError(`${pid} is no process of ours`);
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
