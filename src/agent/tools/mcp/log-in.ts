import { ConfigError } from '../../../core/errors.ts';
import { openConnection } from './connection.ts';
import type { ConnectionDeps } from './connection.ts';
import { loginFile } from './login-file.ts';
import { listenForLogin } from './login-listener.ts';

export interface LogInDeps extends Omit<ConnectionDeps, 'browser' | 'toolsChanged'> {
  /** Shows the person the page on which to log in; the browser has to run on this machine. */
  show(address: URL): void;
  /** Forgets an earlier login first. */
  readonly again?: boolean;
}

/** Logs a person in to a server and keeps what they were given for the gateway. Answers how many tools the server has. */
export const logInTo = async (deps: LogInDeps, signal: AbortSignal): Promise<{ readonly tools: number }> => {
  const { name, options } = deps;
  const { url } = options;
  if (options.auth !== 'oauth' || url === undefined) throw new ConfigError(`Nobody has to log in to ${name}. If the server wants it, write \`auth: oauth\` below mcp_servers.${name}.`);
  if (deps.again === true) await loginFile(deps.home, { name, url }).write({ tokens: undefined });
  await using listener = await listenForLogin(options.oauth.redirect_port);
  const visit = (address: URL, until: AbortSignal): Promise<URLSearchParams> => {
    deps.show(address);
    return listener.arrival(until);
  };
  const connection = await openConnection({ ...deps, browser: { redirectUrl: listener.url, visit } }, signal);
  try {
    return { tools: (await connection.offers(signal)).tools.length };
  } finally {
    await connection.close('the login is done');
  }
};
