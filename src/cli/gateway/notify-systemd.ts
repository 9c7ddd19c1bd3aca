import { execFile } from 'node:child_process';
import type { Environment } from '../../config/variables.ts';
import type { Logger } from '../../lib/logger.ts';

/** What systemd is told about the service; `systemctl status` shows the words. */
export interface SystemdNotice extends Disposable {
  /** It is not up yet, and says why; with a time, it will not be for that long, and then says more. */
  waiting(words: string, moreMs?: number): void;
  /** It is up, and from now on says as often as systemd wants that it lives. */
  ready(words: string): void;
  /** It ends, within this time at the latest. */
  stopping(words: string, withinMs: number): void;
}

/** Tells systemd how the service is. Without systemd it does nothing. */
export const notifySystemd = (env: Environment, log: Logger): SystemdNotice => {
  const isAsked = (env['NOTIFY_SOCKET'] ?? '') !== '';
  const watchdogMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000;
  let timer: NodeJS.Timeout | undefined;
  // Node cannot write to the datagram socket that systemd listens on; its own little program can.
  const tell = (...words: readonly string[]): void => {
    if (!isAsked) return;
    execFile('systemd-notify', words, { env }, (error) => {
      if (error !== null) log.warn({ err: error, words }, 'systemd.not_told');
    });
  };
  return {
    waiting: (words, moreMs) => tell(`--status=${words}`, ...(moreMs === undefined ? [] : [`EXTEND_TIMEOUT_USEC=${Math.ceil(moreMs) * 1000}`])),
    ready(words) {
      tell('--ready', `--status=${words}`);
      if (watchdogMs > 0) timer = setInterval(() => tell('WATCHDOG=1'), watchdogMs / 3).unref();
    },
    // Settings may give turns more time than they did when the unit was written. Not `--stopping`: before 253 the program does not know it, and refuses the rest as well.
    stopping: (words, withinMs) => tell('STOPPING=1', `--status=${words}`, `EXTEND_TIMEOUT_USEC=${Math.ceil(withinMs) * 1000}`),
    [Symbol.dispose]: () => clearInterval(timer),
  };
};
