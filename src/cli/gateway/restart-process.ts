import type { Environment } from '../../config/variables.ts';
import { Exit } from '../environment.ts';

/** "Start me again", as service managers read it. */
const pleaseRestart = 75;

/** systemd, launchd, or whoever says so starts us again when we leave. */
export const isSupervised = (env: Environment): boolean =>
  (env['INVOCATION_ID'] ?? '') !== '' || !['', '0'].includes(env['XPC_SERVICE_NAME'] ?? '') || (env['HERMES_GATEWAY_EXTERNAL_SUPERVISOR'] ?? '') !== '';

/** Whether the program would run again after `restartProcess`. */
export const canRestart = (env: Environment): boolean => isSupervised(env) || process.execve !== undefined;

/** Leaves with the code that asks a service manager for a new start; without one the process becomes its own successor, in the same terminal. */
export const restartProcess = (env: Environment): never => {
  if (!isSupervised(env) && process.execve !== undefined) process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)]);
  throw new Exit(pleaseRestart);
};
