import { execFile } from 'node:child_process';
import type { Environment } from '../../config/variables.ts';
import type { Logger } from '../../lib/logger.ts';

/** Tells systemd that the service is up, and as often as it wants that it lives. Without systemd it does nothing. */
export const notifySystemd = (env: Environment, log: Logger): { ready(): void; stopping(): void } & Disposable => {
  const isAsked = (env['NOTIFY_SOCKET'] ?? '') !== '';
  const watchdogMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000;
  let timer: NodeJS.Timeout | undefined;
  // Node cannot write to the datagram socket that systemd listens on; its own little program can.
  const tell = (...words: readonly string[]): void => {
    if (!isAsked) return;
    execFile('systemd-notify', words, (error) => {
      if (error !== null) log.warn({ err: error, words }, 'systemd.not_told');
    });
  };
  return {
    ready() {
      tell('--ready', `--pid=${process.pid}`);
      if (watchdogMs > 0) timer = setInterval(() => tell('WATCHDOG=1'), watchdogMs / 3).unref();
    },
    stopping: () => tell('--stopping'),
    [Symbol.dispose]: () => clearInterval(timer),
  };
};
