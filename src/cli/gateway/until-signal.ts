/** npm and the terminal both pass a Ctrl-C on, so that one arrives as two. */
const sameSignalMs = 1000;

/** Resolves with the signal that asks the process to end. A second one, after a moment, ends it at once. */
export const untilSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let askedMs: number | undefined;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        if (askedMs !== undefined && performance.now() - askedMs > sameSignalMs) process.exit(1);
        askedMs ??= performance.now();
        resolve(name);
      });
    }
  });

/** SIGUSR1 asks for a restart, as scripts and units made for the original expect. */
export const onRestartSignal = (asked: () => void): void => {
  if (process.platform !== 'win32') process.on('SIGUSR1', asked);
};
