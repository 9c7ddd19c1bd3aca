import type { SimulatedMessage } from '../../src/platforms/simulator.ts';

/** Two accounts, so that both ways of dealing with a busy conversation are tried at once. */
export const accounts = { telegram: 'queue', 'telegram@quick': 'interrupt' } as const;

export type Account = keyof typeof accounts;

/** Somewhere a person talks: one conversation of the gateway. */
export interface Place extends Pick<SimulatedMessage, 'chatId' | 'senderId' | 'threadId'> {
  readonly index: number;
  readonly account: Account;
  readonly chatType: 'dm' | 'group';
  /** Open: writes when it likes. Closed: waits for the answer. Bursts: several at once, then waits. */
  readonly manner: 'open' | 'closed' | 'bursts';
}

type Kind = Pick<Place, 'account' | 'chatType' | 'manner'> & { readonly at: (index: number, cycle: number) => Pick<Place, 'chatId' | 'senderId' | 'threadId'> };

const dm = (index: number): Pick<Place, 'chatId' | 'senderId'> => ({ chatId: String(1000 + index), senderId: String(1000 + index) });
const group = (index: number, cycle: number): Pick<Place, 'chatId' | 'senderId'> => ({ chatId: String(-100_000 - cycle), senderId: String(1000 + index) });
const forum = (index: number, cycle: number): Pick<Place, 'chatId' | 'senderId' | 'threadId'> => ({ chatId: String(-200_000 - Math.floor(cycle / 2)), senderId: String(1000 + index), threadId: String(500 + cycle) });

/** Two people share each group, and two topics each forum. */
const kinds: readonly Kind[] = [
  { account: 'telegram', chatType: 'dm', manner: 'open', at: dm },
  { account: 'telegram@quick', chatType: 'dm', manner: 'bursts', at: dm },
  { account: 'telegram', chatType: 'group', manner: 'open', at: group },
  { account: 'telegram', chatType: 'group', manner: 'closed', at: group },
  { account: 'telegram', chatType: 'group', manner: 'closed', at: forum },
  { account: 'telegram@quick', chatType: 'group', manner: 'bursts', at: group },
];

export const newPlaces = (count: number): readonly Place[] =>
  Array.from({ length: count }, (_, index): Place[] => {
    const kind = kinds[index % kinds.length];
    if (kind === undefined) return [];
    const { at, ...facts } = kind;
    return [{ ...facts, ...at(index, Math.floor(index / kinds.length)), index }];
  }).flat();
