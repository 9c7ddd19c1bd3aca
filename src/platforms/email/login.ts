import { PlatformError } from '../../core/errors.ts';
import type { AccessTokens } from './access-tokens.ts';

/** What a server is told about who logs in. */
export type Login = { readonly user: string } & ({ readonly pass: string } | { readonly accessToken: string });

/** The way to log in on both servers of a mailbox. */
export interface Logins {
  /** `attempt` connects and logs in; it is called again when a token that was good yesterday is refused today. */
  use<T>(attempt: (login: Login) => Promise<T>, signal: AbortSignal): Promise<T>;
}

export const passwordLogins = (user: string, pass: string): Logins => ({ use: (attempt) => attempt({ user, pass }) });

export const tokenLogins = (user: string, tokens: AccessTokens): Logins => ({
  async use(attempt, signal) {
    const token = await tokens.get(signal);
    try {
      return await attempt({ user, accessToken: token.value });
    } catch (error) {
      if (token.isNew || !(error instanceof PlatformError) || error.code !== 'bad_credential') throw error;
      tokens.forget(token.value);
      return attempt({ user, accessToken: (await tokens.get(signal)).value });
    }
  },
});
