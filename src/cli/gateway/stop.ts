import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../core/errors.ts';
import { lockHome } from '../../store/locks/home-lock.ts';
import { dropPlannedEnd, planEnd } from './planned-end.ts';
import { holderOf, isHeldBy, lookFor, outsideTrouble, sendSignal, writtenPid } from './process.ts';
import { untilSucceeded } from './succession.ts';

/** Beyond what running turns get. */
const marginMs = 15_000;

/** Beyond that, for one that takes over: its start. */
const startMs = 60_000;

const gatewayIn = (home: string): { readonly pid: number; readonly sinceMs: number } | undefined => {
  const holder = holderOf(home);
  if (holder.type === 'terminal') throw new ConfigError(`An open terminal chat hosts the gateway of ${home}. Leave it to end the gateway.`, { mayPass: true });
  if (holder.type === 'outside') throw outsideTrouble(home);
  return holder.type === 'gateway' ? holder : undefined;
};

/** A file that somebody left behind is taken away while nobody can have the home, and so write a new one. */
const forgetNumber = (home: string): void => {
  const lock = writtenPid(home) === undefined ? undefined : lockHome(home);
  if (lock === undefined) return;
  rmSync(join(home, 'gateway.pid'), { force: true });
  lock.release();
};

const untilGone = (home: string, pid: number, atMostMs: number): Promise<true | undefined> =>
  lookFor(() => {
    if (isHeldBy(home, pid)) return undefined;
    const holder = holderOf(home);
    return holder.type === 'nobody' || (holder.type === 'gateway' && holder.pid !== pid) ? true : undefined;
  }, atMostMs);

/** One that becomes its own successor keeps its number, and writes it down anew; earlier, if the clock was set back meanwhile. */
const hasStartedAnew = (home: string, before: { readonly sinceMs: number } | undefined): boolean => {
  const now = writtenPid(home);
  return now !== undefined && now.sinceMs !== before?.sinceMs;
};

export type Stopped = 'stopped' | 'killed' | 'not running';

export interface StopOptions {
  readonly drainMs: number;
  readonly force: boolean;
}

/** A new gateway gets its time to start and the one before it to end, and is then the one that is meant. */
const untilSettled = async (home: string, drainMs: number): Promise<void> => {
  const atMostMs = drainMs + startMs;
  if ((await untilSucceeded(home, atMostMs)) === undefined) throw new ConfigError(`A new gateway is taking over in ${home}, and has not come to an end within ${Math.round(atMostMs / 1000)} s. hermes gateway status shows which one runs; try again then.`, { mayPass: true });
};

/** Ends the gateway of a home as `endGateway` does; one that is just being taken over is ended with its successor. */
export const stopGateway = async (home: string, options: StopOptions): Promise<Stopped> => {
  await untilSettled(home, options.drainMs);
  return endGateway(home, options);
};

/** Asks the gateway that has a home to end and waits until it has. What it could not finish continues after the next start. */
export const endGateway = async (home: string, options: StopOptions): Promise<Stopped> => {
  const running = gatewayIn(home);
  if (running === undefined) {
    forgetNumber(home);
    return 'not running';
  }
  // Nobody has to be able to write to end it; then it does not know who asked.
  await planEnd(home, { pid: running.pid, end: 'stop' }).catch(() => dropPlannedEnd(home));
  sendSignal(running.pid, 'SIGTERM');
  if (await untilGone(home, running.pid, options.drainMs + marginMs)) return 'stopped';
  if (!options.force) throw new ConfigError(`Process ${running.pid} has not ended within ${Math.round((options.drainMs + marginMs) / 1000)} s. hermes gateway stop --force ends it at once; nothing that was received is lost by that.`, { mayPass: true });
  sendSignal(running.pid, 'SIGKILL');
  await untilGone(home, running.pid, marginMs);
  return 'killed';
};

export interface RestartOptions {
  readonly drainMs: number;
  readonly startMs: number;
}

/** Lets the gateway end and come back by itself, in its own terminal or under its service. Answers its number then; undefined when none runs. */
export const restartGateway = async (home: string, options: RestartOptions): Promise<number | undefined> => {
  await untilSettled(home, options.drainMs);
  const running = gatewayIn(home);
  if (running === undefined) return undefined;
  const before = writtenPid(home);
  await planEnd(home, { pid: running.pid, end: 'restart' });
  try {
    sendSignal(running.pid, 'SIGTERM');
    const left = await lookFor(() => (hasStartedAnew(home, before) || !isHeldBy(home, running.pid) ? true : undefined), options.drainMs + marginMs);
    if (left === undefined) throw new ConfigError(`Process ${running.pid} has not ended within ${Math.round((options.drainMs + marginMs) / 1000)} s. hermes gateway stop --force ends it at once; nothing that was received is lost by that. Then hermes gateway start.`, { mayPass: true });
    const back = await lookFor(() => {
      if (!hasStartedAnew(home, before)) return undefined;
      const holder = holderOf(home);
      return holder.type === 'gateway' ? holder.pid : undefined;
    }, options.startMs);
    if (back === undefined) throw new ConfigError(`The gateway of ${home} has not come back. See hermes logs, and start it with hermes gateway start.`, { mayPass: true });
    return back;
  } finally {
    dropPlannedEnd(home);
  }
};
