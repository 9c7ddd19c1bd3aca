import type { Environment } from '../../config/variables.ts';
import { Exit } from '../environment.ts';

/** "Start me again", as service managers read it. */
const pleaseRestart = 75;

/** systemd, launchd, or whoever says so starts us again when we leave. */
export const isSupervised = (env: Environment): boolean =>
  (env['INVOCATION_ID'] ?? '') !== '' || !['', '0'].includes(env['XPC_SERVICE_NAME'] ?? '') || (env['HERMES_GATEWAY_EXTERNAL_SUPERVISOR'] ?? '') !== '';

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
