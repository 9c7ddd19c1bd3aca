import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './variables.ts';

/** Where things lie that belong to this user on this machine, whatever home a gateway has. */
export const stateFolder = (env: Environment): string => {
  const chosen = env['XDG_STATE_HOME'] ?? '';
  const own = env['HOME'] !== undefined && env['HOME'] !== '' ? env['HOME'] : homedir();
  return join(chosen === '' ? join(own, '.local', 'state') : chosen, 'hermes');
};

/** Where credentials are held against other gateways of this machine. */
export const lockFolderOf = (env: Environment): string => (env['HERMES_GATEWAY_LOCK_DIR'] ?? '') || join(stateFolder(env), 'gateway-locks');
