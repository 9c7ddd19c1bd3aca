import { lockFolderOf } from '../../config/state-folder.ts';
import { ConfigError } from '../../core/errors.ts';
import { holdPort } from '../../http/hold-port.ts';
import type { PortHold } from '../../http/hold-port.ts';
import { systemClock } from '../../lib/clock.ts';
import { lockHome } from '../../store/locks/home-lock.ts';
import type { FileLock } from '../../store/locks/file-lock.ts';
import type { Terminal } from '../environment.ts';
import { forgetStarting, noteStarting } from './start-note.ts';

/** Another command may hold the lock for a blink of an eye, to see whether a gateway runs. */
const lockFreeHome = async (home: string): Promise<FileLock> => {
  for (let attempt = 1; ; attempt += 1) {
    const lock = lockHome(home);
    if (lock !== undefined) return lock;
    if (attempt === 10) throw new ConfigError(`Another gateway is already running in ${home}, or an open terminal chat hosts one. End it (hermes gateway stop), take its place (hermes gateway run --replace), or set HERMES_HOME to another folder.`, { mayPass: true });
    await systemClock.sleep(100);
  }
};

/** What this process has for itself alone; the kernel takes it back if the process dies before. */
export interface Holds extends Disposable {
  /** Undefined until the home is ours. */
  home: FileLock | undefined;
  /** The right to take the home over from another, while this one has it. */
  succession: FileLock | undefined;
  /** Takes a home that nobody has, unless it is ours already, and says that a gateway is starting in it. */
  takeHome(): Promise<void>;
  takePort(port: number): PortHold;
  /** The home is its own: from now on the next one may take it over. */
  hasSucceeded(): void;
}

export const newHolds = (terminal: Terminal, home: string): Holds => {
  let taken: PortHold | undefined;
  return {
    home: undefined,
    succession: undefined,
    async takeHome() {
      this.home ??= await lockFreeHome(home);
      noteStarting(home, 'Opens its database and its doors');
    },
    takePort(port) {
      taken = holdPort(lockFolderOf(terminal.env), { home, port });
      return taken;
    },
    hasSucceeded() {
      this.succession?.release();
      this.succession = undefined;
    },
    [Symbol.dispose]() {
      taken?.release();
      this.hasSucceeded();
      forgetStarting(home);
      this.home?.release();
      this.home = undefined;
    },
  };
};
