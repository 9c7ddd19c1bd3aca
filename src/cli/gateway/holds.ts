import { lockFolderOf } from '../../config/state-folder.ts';
import { ConfigError } from '../../core/errors.ts';
import { holdPort } from '../../http/hold-port.ts';
import type { PortHold } from '../../http/hold-port.ts';
import { systemClock } from '../../lib/clock.ts';
import { lockHome } from '../../store/home-lock.ts';
import type { FileLock } from '../../store/file-lock.ts';
import type { Terminal } from '../environment.ts';

/** Another command may hold the lock for a blink of an eye, to see whether a gateway runs. */
export const takeHome = async (home: string): Promise<FileLock> => {
  for (let attempt = 1; ; attempt += 1) {
    const lock = lockHome(home);
    if (lock !== undefined) return lock;
    if (attempt === 10) throw new ConfigError(`Another gateway is already running in ${home}, or an open terminal chat hosts one. End it (hermes gateway stop), take its place (hermes gateway run --replace), or set HERMES_HOME to another folder.`, { mayPass: true });
    await systemClock.sleep(100);
  }
};

/** What this process has for itself alone; the kernel takes it back if the process dies before. */
export interface Holds extends Disposable {
  readonly port: PortHold;
  /** Undefined until the home is ours. */
  home: FileLock | undefined;
  /** The home is its own: from now on the next one may take it over. */
  hasSucceeded(): void;
}

export interface HoldRequest {
  readonly home: string;
  readonly port: number;
  /** The right to take the home over from another, which this one has. */
  readonly succession: FileLock | undefined;
}

export const newHolds = (terminal: Terminal, at: HoldRequest): Holds => {
  let { succession } = at;
  const port = holdPort(lockFolderOf(terminal.env), at);
  return {
    port,
    home: undefined,
    hasSucceeded() {
      succession?.release();
      succession = undefined;
    },
    [Symbol.dispose]() {
      port.release();
      this.hasSucceeded();
      this.home?.release();
      this.home = undefined;
    },
  };
};
