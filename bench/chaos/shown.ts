import type { VisibleMessage } from '../../src/platforms/simulator.ts';
import { accounts } from './places.ts';
import type { Account } from './places.ts';
import type { Counts, Story, Violation } from './verdict.ts';
import { coveredIn, readShown } from './words.ts';
import type { ShownKind, ShownText } from './words.ts';
import type { ShowingCall, World } from './world.ts';

/** A message of the bot, as it stands in a chat at the end. */
interface Shown extends ShownText {
  readonly account: Account;
  readonly message: VisibleMessage;
}

const everythingShown = (world: World): readonly Shown[] => {
  const chats = new Set(world.places.map(({ account, chatId }) => `${account} ${chatId}`));
  return [...chats].flatMap((chat) => {
    const [account, chatId] = chat.split(' ') as [Account, string];
    return world.telegrams[account].visible(chatId).map((message) => ({ account, message, ...readShown(message.text) }));
  });
};

/** The same thing said; several of them are repeats. */
const sameThing = (shown: Pick<Shown, 'kind' | 'ids'>): string => `${shown.kind} ${shown.ids.join(' ')}`;

/** What a process has sent right before its end is read a little later. */
const lateMs = 1000;

/** Whether a message of ours may have been shown without anybody knowing: its answer was lost, or the process ended around that time. */
const outcomeLost = (world: World, call: ShowingCall, beforeMs: number): boolean =>
  call.answer.status === 0 || world.kills.some(({ atMs }) => atMs >= call.atMs - lateMs && atMs <= beforeMs);

const callsFor = (world: World, kind: ShownKind, shown: Shown): readonly ShowingCall[] =>
  world.calls.filter((call) => call.account === shown.account && call.chatId === shown.message.chatId && sameThing(call.shown) === sameThing({ kind, ids: shown.ids }));

const checkPlace = (shown: Shown, stories: ReadonlyMap<string, Story>): Violation[] => {
  const natives = shown.ids.map((id) => stories.get(id)?.said);
  const first = natives[0];
  if (first === undefined) return [{ kind: 'stray', what: `nobody asked for ${JSON.stringify(shown.message.text)} in ${shown.account} ${shown.message.chatId}` }];
  const { place } = first;
  const id = first.id;
  const isThere = natives.every((said) => said?.place === place) && shown.account === place.account && shown.message.chatId === place.chatId && shown.message.threadId === place.threadId;
  if (!isThere) return [{ kind: 'misplaced', id, what: `${shown.kind} stands in ${shown.account} ${shown.message.chatId} ${shown.message.threadId ?? ''}` }];
  const isAnchored = shown.kind === 'cut' || natives.some((said) => said?.nativeId === shown.message.replyTo);
  return isAnchored ? [] : [{ kind: 'misplaced', id, what: `${shown.kind} is attached to message ${shown.message.replyTo ?? 'none'}` }];
};

/** A second copy is right only once, marked, and after the outcome of the first was lost. */
const checkCopies = (world: World, copies: readonly Shown[], counts: Counts): Violation[] => {
  const [first, second] = copies;
  if (first === undefined || second === undefined) {
    if (first?.marked === true) counts.markedAlone += 1;
    return [];
  }
  const about = first.ids[0] === undefined ? {} : { id: first.ids[0] };
  if (copies.length > 2 || !second.marked) return [{ kind: 'doubled', ...about, what: `is shown ${copies.length} times, ${copies.filter(({ marked }) => marked).length} of them marked` }];
  const calls = callsFor(world, first.kind, first);
  const repeat = calls.find(({ shown }) => shown.marked);
  const excused = calls.some((call) => !call.shown.marked && outcomeLost(world, call, repeat?.atMs ?? Number.POSITIVE_INFINITY));
  if (!excused) return [{ kind: 'doubled', ...about, what: 'was repeated although the platform had answered and the process lived' }];
  counts.repeated += 1;
  return [];
};

/** Within one conversation, answers stand in the order of the messages. */
const checkOrder = (answers: readonly Shown[], stories: ReadonlyMap<string, Story>): Violation[] => {
  const byPlace = Map.groupBy(answers, ({ ids }) => stories.get(ids.at(-1) ?? '')?.said.place.index);
  return [...byPlace.values()].flatMap((list) => {
    const firsts = [...Map.groupBy(list, sameThing).values()].map(([copy]) => copy).filter((copy) => copy !== undefined);
    const numbers = firsts.map(({ ids }) => stories.get(ids.at(-1) ?? '')?.said.n ?? 0);
    const at = numbers.findIndex((n, i) => n <= (numbers[i - 1] ?? 0));
    const id = firsts[at]?.ids.at(-1);
    return at === -1 ? [] : [{ kind: 'out of order', ...(id !== undefined && { id }), what: `is answered after message ${numbers[at - 1]}` } as const];
  });
};

const checkPreview = (world: World, shown: Shown, counts: Counts): Violation[] => {
  const calls = world.calls.filter((call) => call.account === shown.account && call.chatId === shown.message.chatId && call.shown.kind === 'preview');
  const excused = calls.some((call) => outcomeLost(world, call, call.atMs + 10_000));
  if (!excused) return [{ kind: 'left over', what: `an unfinished preview stands in ${shown.account} ${shown.message.chatId}: ${JSON.stringify(shown.message.text)}` }];
  counts.orphanPreviews += 1;
  return [];
};

/** Whether it is written down why people do not see an answer. */
const explanation = (story: Story): 'setAside' | 'givenUp' | undefined => {
  if (story.isSetAside) return 'setAside';
  return story.deliveries.some(({ state, error }) => state === 'failed' && error?.startsWith('unknown_outcome') === true) ? 'givenUp' : undefined;
};

const checkAnswered = (everything: readonly Shown[], stories: ReadonlyMap<string, Story>, counts: Counts): Violation[] => {
  // An answer that was whole when it was interrupted is seen whole, with a line about that below it.
  const answered = new Set(everything.flatMap(({ kind, ids, message }) => (kind === 'answer' ? ids : kind === 'cut' ? coveredIn(message.text) : [])));
  const anchors = new Set(everything.map(({ account, message }) => `${account} ${message.replyTo ?? ''}`));
  const violations: Violation[] = [];
  for (const [id, story] of stories) {
    const { said } = story;
    if (said.isCommand ? anchors.has(`${said.place.account} ${said.nativeId}`) : answered.has(id)) continue;
    const why = explanation(story);
    if (why === undefined) violations.push({ kind: 'lost', id, what: 'has no answer that people can see' });
    else if (why === 'givenUp') counts.givenUp += 1;
  }
  return violations;
};

/** Answers to commands have no message in their words; what they are attached to says whose they are. */
const checkOthers = (others: readonly Shown[], stories: ReadonlyMap<string, Story>): Violation[] => {
  const commands = new Map([...stories.values()].filter(({ said }) => said.isCommand).map(({ said }) => [`${said.place.account} ${said.nativeId}`, said]));
  const groups = Map.groupBy(others, ({ account, message }) => `${account} ${message.replyTo ?? ''}`);
  return [...groups].flatMap(([anchor, copies]): Violation[] => {
    const said = commands.get(anchor);
    const [first] = copies;
    if (said === undefined) return [{ kind: 'stray', what: `nobody asked for ${JSON.stringify(first?.message.text)} in ${first?.account} ${first?.message.chatId}` }];
    const misplaced = copies.some(({ message }) => message.chatId !== said.place.chatId || message.threadId !== said.place.threadId);
    if (misplaced) return [{ kind: 'misplaced', id: said.id, what: 'the answer to the command stands elsewhere' }];
    return copies.filter(({ marked }) => !marked).length > 1 ? [{ kind: 'doubled', id: said.id, what: `the command was answered ${copies.length} times` }] : [];
  });
};

/** Everything people see is something they asked for, in its place, in order, once. */
export const checkShown = (world: World, stories: ReadonlyMap<string, Story>, counts: Counts): Violation[] => {
  const everything = everythingShown(world);
  const of = (...kinds: readonly ShownKind[]): readonly Shown[] => everything.filter(({ kind }) => kinds.includes(kind));
  const said = of('answer', 'aside');
  return [
    ...checkAnswered(everything, stories, counts),
    ...of('answer', 'aside', 'cut').flatMap((shown) => checkPlace(shown, stories)),
    ...[...Map.groupBy(said, sameThing).values()].flatMap((copies) => checkCopies(world, copies, counts)),
    ...checkOrder(of('answer'), stories),
    ...of('preview').flatMap((shown) => checkPreview(world, shown, counts)),
    ...of('cut', 'cut empty').filter(({ account }) => accounts[account] === 'queue').map((shown): Violation => ({ kind: 'stray', what: `an answer was interrupted although messages wait their turn: ${shown.message.text}` })),
    ...checkOthers(of('other'), stories),
  ];
};
