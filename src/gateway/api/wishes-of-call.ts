import type { BegunTurn } from '../../sessions/begin.ts';
import { apiCall } from '../../store/api/api-calls.ts';
import type { Store } from '../../store/store.ts';
import type { CallWishes, KeptRequest } from './api-gate.ts';
import { callOf } from './call-of.ts';

/** What the call that a turn answers wants of it; undefined for a turn that answers none. */
export const wishesOfCall = async (store: Store, begun: BegunTurn): Promise<CallWishes | undefined> => {
  const id = callOf(begun);
  if (id === undefined) return undefined;
  const call = await store.read((db) => apiCall<KeptRequest<unknown>>(db, id));
  return call?.request.wishes;
};
