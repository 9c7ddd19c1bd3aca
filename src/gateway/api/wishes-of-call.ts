import type { BegunTurn } from '../../sessions/begin.ts';
import { apiCall } from '../../store/api-calls.ts';
import type { Store } from '../../store/store.ts';
import type { CallWishes, KeptRequest } from './api-gate.ts';
import { apiAccount } from './place.ts';

/** What the call that a turn answers wants of it; undefined for a turn that answers none. */
export const wishesOfCall = async (store: Store, { turn, last }: BegunTurn): Promise<CallWishes | undefined> => {
  if (turn.target.account !== apiAccount || last === undefined) return undefined;
  const call = await store.read((db) => apiCall<KeptRequest<unknown>>(db, last.event.nativeId));
  return call?.request.wishes;
};
