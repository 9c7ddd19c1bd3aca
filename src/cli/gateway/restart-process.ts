import type { Environment } from '../../config/variables.ts';
import { Exit } from '../environment.ts';

/** "Start me again", as service managers read it. */
const pleaseRestart = 75;

/** All that a service starts has the mark of systemd, as every shell of a desktop that is a service itself; the process of the service is the one that is named. Before systemd 248 none was. */
export const isServiceOfSystemd = (env: Environment): boolean => (env['INVOCATION_ID'] ?? '') !== '' && ['', String(process.pid)].includes(env['SYSTEMD_EXEC_PID'] ?? '');

/** Terminals and editors of macOS have such a name, too. */
const isServiceOfLaunchd = (env: Environment): boolean => !['', '0'].includes(env['XPC_SERVICE_NAME'] ?? '') && env['XPC_SERVICE_NAME']?.startsWith('application.') !== true;

/** systemd, launchd, or whoever says so starts us again when we leave. */
export const isSupervised = (env: Environment): boolean => isServiceOfSystemd(env) || isServiceOfLaunchd(env) || (env['HERMES_GATEWAY_EXTERNAL_SUPERVISOR'] ?? '') !== '';

/** The environment for a process that nobody looks after, whoever looks after the one that starts it. */
export const unsupervised = (env: Environment): Environment => {
  const { INVOCATION_ID: _id, SYSTEMD_EXEC_PID: _pid, NOTIFY_SOCKET: _socket, WATCHDOG_USEC: _interval, WATCHDOG_PID: _watched, XPC_SERVICE_NAME: _name, ...others } = env;
  return others;
};

/** Whether the program would run again after `restartProcess`. */
export const canRestart = (env: Environment): boolean => isSupervised(env) || process.execve !== undefined;

/** Without a service manager the process becomes its own successor, in the same terminal; otherwise this returns. */
const becomeSuccessor = (env: Environment): void => {
  if (isSupervised(env) || process.execve === undefined) return;
  // Node tells nobody that this program ends, since the process goes on.
  process.emit('exit', 0);
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)]);
};

/** Leaves with the code that asks a service manager for a new start; without one the process becomes its own successor. */
export const restartProcess = (env: Environment): never => {
  becomeSuccessor(env);
  throw new Exit(pleaseRestart);
};

/** The same for a process whose parts do not come to their end, so that nobody is left who could leave. */
export const restartAtOnce = (env: Environment): never => {
  becomeSuccessor(env);
  return process.exit(pleaseRestart);
};
