import { ConfigError } from '../../core/errors.ts';
import { resolveSessions } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';

/** The conversation that somebody means by an id, the start of one, or a title. */
export const oneSession = async (store: Store, name: string): Promise<Session> => {
  const [session, ...others] = await store.read((db) => resolveSessions(db, name));
  if (session === undefined) throw new ConfigError(`There is no session called ${name}. hermes sessions list shows them.`);
  if (others.length > 0) throw new ConfigError(`Several sessions start with ${name}: ${[session, ...others].map(({ id }) => id).join(', ')}`);
  return session;
};
