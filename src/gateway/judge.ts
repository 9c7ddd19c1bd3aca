import { authorize } from '../access/authorize.ts';
import type { AccessRules, Verdict } from '../access/authorize.ts';
import type { InboundEvent } from '../core/message.ts';
import { isPaired } from '../store/accounts/pairing.ts';
import type { Reading } from '../store/store.ts';
import type { Arrival } from './arrival.ts';
import type { GatewaySettings } from './settings.ts';

export interface JudgeRules {
  readonly known: Pick<Arrival, 'platform' | 'common'>;
  readonly access: GatewaySettings['access'];
  /** Asked about pairing only for people whom no list has let in. */
  read<T>(look: (db: Reading) => Promise<T>): Promise<T>;
}

/** Whether an event may have any effect, by the lists and pairings of this moment. */
export const judge = async (event: InboundEvent, { known, access, read }: JudgeRules): Promise<Verdict> => {
  const rules: AccessRules = {
    account: known.common,
    authenticated: known.platform.authenticatesSenders,
    paired: false,
    allowedEverywhere: access.allowed_users,
    allowAllEverywhere: access.allow_all_users,
  };
  const verdict = authorize(event, rules);
  if (verdict.allowed) return verdict;
  const { id, altId } = event.sender;
  const paired = await read((db) => isPaired(db, event.account, altId === undefined ? [id] : [id, altId]));
  return paired ? authorize(event, { ...rules, paired }) : verdict;
};
