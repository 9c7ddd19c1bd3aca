import { accounts } from './places.ts';
import type { Stored, StoredDelivery, StoredItem } from './stored.ts';
import { checkShown } from './shown.ts';
import { coveredIn, idsIn } from './words.ts';
import type { Said, World } from './world.ts';

export type ViolationKind = 'lost' | 'doubled' | 'misplaced' | 'out of order' | 'stray' | 'left over' | 'broken';

export interface Violation {
  readonly kind: ViolationKind;
  readonly what: string;
  /** The message it is about, if it is about one. */
  readonly id?: string;
}

/** What may happen although nobody did anything wrong; counted so that it can be looked at. */
export interface Counts {
  readonly messages: number;
  readonly commands: number;
  /** Ended the process three times, by chance, and were said to be set aside. */
  setAside: number;
  /** Both the delivery and its one repeat lost their answer. */
  givenUp: number;
  /** Shown twice, the second time marked as a possible repeat, because the answer to the first was lost. */
  repeated: number;
  /** Marked as a possible repeat although the first had not arrived. */
  markedAlone: number;
  /** Previews that nobody could finish, because the process ended before it knew their number. */
  orphanPreviews: number;
  /** Turns that had to be taken up again. */
  resumedTurns: number;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly counts: Counts;
}

/** The stored story of one message. */
export interface Story {
  readonly said: Said;
  readonly item: StoredItem | undefined;
  readonly deliveries: readonly StoredDelivery[];
  /** It ended the process three times, or was to be answered together with what did. */
  readonly isSetAside: boolean;
}

const keyOf = (account: string, nativeId: string): string => `${account} ${nativeId}`;

/** A message that was interrupted is answered by a later turn: that turn's deliveries belong to its story as well. */
const turnsAnswering = (stored: Stored): ReadonlyMap<string, readonly number[]> => {
  const turns = new Map<string, number[]>();
  for (const { role, content, turnId } of stored.rows) {
    if (role !== 'assistant' || turnId === null) continue;
    for (const id of coveredIn(content)) turns.set(id, [...(turns.get(id) ?? []), turnId]);
  }
  return turns;
};

/** A message that was interrupted shares the fate of the one that is answered in its place. */
const isSetAside = (item: StoredItem, stored: Stored): boolean => {
  if (item.reason !== 'interrupted') return item.state === 'set_aside';
  const later = stored.items.filter(({ sessionId, turnId }) => sessionId === item.sessionId && (turnId ?? 0) > (item.turnId ?? 0)).toSorted((a, b) => (a.turnId ?? 0) - (b.turnId ?? 0));
  return later.find(({ reason }) => reason !== 'interrupted')?.state === 'set_aside';
};

export const tellStories = (world: World, stored: Stored): ReadonlyMap<string, Story> => {
  const items = new Map(stored.items.map((item) => [keyOf(item.account, item.nativeId), item]));
  const byTurn = Map.groupBy(stored.deliveries, ({ turnId }) => turnId);
  const byInbox = Map.groupBy(stored.deliveries, ({ inboxId }) => inboxId);
  const answering = turnsAnswering(stored);
  return new Map(
    world.said.map((said) => {
      const item = items.get(keyOf(said.place.account, said.nativeId));
      const turnIds = new Set([...(item === undefined || item.turnId === null ? [] : [item.turnId]), ...(answering.get(said.id) ?? [])]);
      const deliveries = [...[...turnIds].flatMap((id) => byTurn.get(id) ?? []), ...(item === undefined ? [] : (byInbox.get(item.id) ?? []))];
      return [said.id, { said, item, deliveries, isSetAside: item !== undefined && isSetAside(item, stored) }];
    }),
  );
};

/** Everything a person wrote was taken in once, into the conversation of its place, and dealt with. */
const checkTakenIn = (stories: ReadonlyMap<string, Story>, counts: Counts): Violation[] => {
  const violations: Violation[] = [];
  const sessions = new Map<number, string>();
  for (const [id, { said, item }] of stories) {
    if (item === undefined) {
      violations.push({ kind: 'lost', id, what: 'was never stored' });
      continue;
    }
    const session = sessions.get(said.place.index) ?? item.sessionId;
    sessions.set(said.place.index, session);
    if (item.sessionId !== session) violations.push({ kind: 'misplaced', id, what: `went to session ${item.sessionId} instead of ${session}` });
    if (item.state === 'set_aside') counts.setAside += 1;
    else if (item.state !== 'done') violations.push({ kind: 'left over', id, what: `is ${item.state} (${item.reason ?? 'no reason'})` });
  }
  if (new Set(sessions.values()).size < sessions.size) violations.push({ kind: 'misplaced', what: 'two places share a conversation' });
  return violations;
};

const countIds = (texts: readonly (readonly string[])[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const id of texts.flat()) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
};

/** Each message stands in its transcript once, in order, and is covered by one complete answer. */
const checkTranscripts = (stories: ReadonlyMap<string, Story>, stored: Stored): Violation[] => {
  const asked = countIds(stored.rows.filter(({ role }) => role === 'user').map(({ content }) => idsIn(content)));
  const covered = countIds(stored.rows.filter(({ role }) => role === 'assistant').map(({ content }) => coveredIn(content)));
  const violations: Violation[] = [];
  for (const [id, { said, item, isSetAside: wasSetAside }] of stories) {
    if (said.isCommand || item === undefined) continue;
    if (asked.get(id) !== 1) violations.push({ kind: (asked.get(id) ?? 0) > 1 ? 'doubled' : 'lost', id, what: `stands ${asked.get(id) ?? 0} times in the transcript` });
    const answers = covered.get(id) ?? 0;
    if (answers > 1) violations.push({ kind: 'doubled', id, what: `has ${answers} complete answers in the transcript` });
    if (answers === 0 && !wasSetAside) violations.push({ kind: 'lost', id, what: 'has no complete answer in the transcript' });
  }
  for (const [sessionId, rows] of Map.groupBy(stored.rows.filter(({ role }) => role === 'user'), (row) => row.sessionId)) {
    const numbers = rows.flatMap(({ content }) => idsIn(content)).map((id) => stories.get(id)?.said.n ?? 0);
    if (numbers.some((n, i) => n <= (numbers[i - 1] ?? 0))) violations.push({ kind: 'out of order', what: `the transcript of ${sessionId} is not in the order of the messages` });
  }
  return violations;
};

/** Where every message has a turn of its own, no turn has finished twice or answered two. */
const checkTurns = (stories: ReadonlyMap<string, Story>, stored: Stored, counts: Counts): Violation[] => {
  const violations: Violation[] = [];
  const users = new Map<number, string>();
  for (const [id, { said, item }] of stories) {
    if (said.isCommand || item === undefined || accounts[said.place.account] !== 'queue') continue;
    if (item.turnId === null) violations.push({ kind: 'lost', id, what: 'has no turn' });
    else if (users.has(item.turnId)) violations.push({ kind: 'doubled', id, what: `shares turn ${item.turnId} with ${users.get(item.turnId)}` });
    else users.set(item.turnId, id);
  }
  const answers = Map.groupBy(stored.rows.filter(({ role, content }) => role === 'assistant' && coveredIn(content).length > 0), ({ turnId }) => turnId);
  for (const turn of stored.turns) {
    if (turn.attempts > 1) counts.resumedTurns += 1;
    if (turn.state === 'running') violations.push({ kind: 'left over', what: `turn ${turn.id} is still running` });
    if ((answers.get(turn.id)?.length ?? 0) > 1) violations.push({ kind: 'doubled', what: `turn ${turn.id} was completed ${answers.get(turn.id)?.length} times` });
  }
  return violations;
};

const checkLeftOver = (world: World, stored: Stored): Violation[] => {
  const unsent = stored.deliveries.filter(({ state }) => state !== 'sent' && state !== 'failed' && state !== 'cancelled');
  const unread = Object.entries(world.telegrams).filter(([, telegram]) => telegram.pending() > 0);
  const broken = Object.entries(world.telegrams).flatMap(([account, telegram]) => telegram.violations().map((what) => `${account}: ${what}`));
  return [
    ...unsent.map(({ key, state }): Violation => ({ kind: 'left over', what: `delivery ${key} is still ${state}` })),
    ...stored.openLanes.map((lane): Violation => ({ kind: 'left over', what: `lane ${lane} is held or has work` })),
    ...unread.map(([account, telegram]): Violation => ({ kind: 'left over', what: `${telegram.pending()} updates of ${account} were never confirmed` })),
    ...(stored.nodes > 0 ? [{ kind: 'left over', what: `${stored.nodes} nodes are still registered` } as const] : []),
    ...[...new Set(broken)].map((what): Violation => ({ kind: 'stray', what: `a call that Telegram does not allow: ${what}` })),
  ];
};

/** Compares what people wrote with what they see and with what is stored. */
export const judge = (world: World, stored: Stored): Verdict => {
  const commands = world.said.filter(({ isCommand }) => isCommand).length;
  const counts: Counts = { messages: world.said.length - commands, commands, setAside: 0, givenUp: 0, repeated: 0, markedAlone: 0, orphanPreviews: 0, resumedTurns: 0 };
  const stories = tellStories(world, stored);
  const violations = [...checkTakenIn(stories, counts), ...checkTranscripts(stories, stored), ...checkTurns(stories, stored, counts), ...checkShown(world, stories, counts), ...checkLeftOver(world, stored)];
  return { violations, counts };
};
