import { Command, InvalidArgumentError } from 'commander';
import { resolveHome } from '../config/home.ts';
import { everyStale, removeConversation } from '../portability/remove-conversation.ts';
import { oweScrub, scrub } from '../store/copies/scrub.ts';
import { countSaid, workOf } from '../store/retention/session-retention.ts';
import type { AtWork } from '../store/retention/session-retention.ts';
import { databaseNow } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { oneSession } from './arguments/one-session.ts';
import { Exit, json, span } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore } from './home/open-home.ts';
import { noteAct } from './note-act.ts';

const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const readAge = (text: string): number => {
  const [, amount = '', unit = ''] = /^(\d+)([hdw])$/.exec(text.trim()) ?? [];
  const ms = Number(amount) * (unitsMs[unit] ?? 0);
  if (!(ms > 0)) throw new InvalidArgumentError('hours, days or weeks, such as 12h, 90d or 8w');
  return ms;
};

const reasons: Readonly<Record<AtWork, string>> = {
  running: 'an answer is being written in it',
  waiting: 'messages wait in it to be answered',
  moving: 'it is being handed over to another place',
  process: 'a background program that it started still runs',
};

const goesWithIt = 'With it go its places (the next message there begins a new one), its files, and its answers that are still on their way. What agents have noted in their memory stays, and so does what the page and the terminal show again.';

/** Long enough for every read but those of somebody who holds the database open in a transaction. */
const patienceMs = 10_000;

interface DeleteFlags {
  readonly yes?: true;
  readonly json?: true;
}

const remove = (terminal: Terminal, name: string, flags: DeleteFlags): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const home = resolveHome(terminal.env);
    const { id, title } = await oneSession(store, name);
    const called = `${id}${title === null ? '' : ` (${title})`}`;
    if (flags.yes !== true) {
      const [why, messages] = await store.read(async (db) => [await workOf(db, id), await countSaid(db, id)] as const);
      if (flags.json === true) terminal.write(json({ id, removed: false, messages, atWork: why ?? null }));
      else terminal.write(`${called}: ${messages} messages.${why === undefined ? '' : ` It cannot be removed now: ${reasons[why]}.`}\n${goesWithIt}\nNothing is removed yet. hermes sessions export saves it first; --yes removes it for good.\n`);
      return;
    }
    await store.write(oweScrub);
    const removal = await removeConversation(store, home, { sessionId: id });
    if (removal.type !== 'removed') {
      terminal.writeError(removal.type === 'at_work' ? `${called} was not removed: ${reasons[removal.why]}. /stop there ends what runs.\n` : `${called} is gone already.\n`);
      throw new Exit(1);
    }
    await scrub(store, patienceMs);
    noteAct(home, 'sessions delete', `${id}: ${removal.messages} messages, ${removal.files} files`);
    terminal.write(flags.json === true ? json({ id, removed: true, messages: removal.messages, files: removal.files }) : `${called} is removed: ${removal.messages} messages, ${removal.files} files.\n`);
  });

interface PruneFlags {
  readonly olderThan: number;
  readonly agent?: string;
  readonly account?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
}

interface Pruned {
  readonly sessions: readonly string[];
  readonly messages: number;
  /** Those in which something is under way. */
  readonly left: readonly { readonly id: string; readonly why: string }[];
}

const pruneAll = async (store: Store, flags: PruneFlags, act: (id: string, beforeMs: number) => Promise<{ readonly messages: number } | { readonly why: string } | undefined>): Promise<Pruned> => {
  const beforeMs = (await store.read(databaseNow)) - flags.olderThan;
  const sessions: string[] = [];
  const left: { id: string; why: string }[] = [];
  let messages = 0;
  for await (const { id } of everyStale(store, { beforeMs, agent: flags.agent, account: flags.account })) {
    const done = await act(id, beforeMs);
    if (done === undefined) continue;
    if ('why' in done) left.push({ id, why: done.why });
    else {
      sessions.push(id);
      messages += done.messages;
    }
  }
  return { sessions, messages, left };
};

const foresee = (store: Store, flags: PruneFlags): Promise<Pruned> =>
  pruneAll(store, flags, async (id) => {
    const why = await store.read((db) => workOf(db, id));
    if (why !== undefined) return { why: reasons[why] };
    return { messages: await store.read((db) => countSaid(db, id)) };
  });

const carryOut = async (store: Store, home: string, flags: PruneFlags): Promise<Pruned> => {
  await store.write(oweScrub);
  const pruned = await pruneAll(store, flags, async (id, beforeMs) => {
    const removal = await removeConversation(store, home, { sessionId: id, beforeMs });
    return removal.type === 'removed' ? removal : removal.type === 'at_work' ? { why: reasons[removal.why] } : undefined;
  });
  await scrub(store, patienceMs);
  return pruned;
};

const prune = (terminal: Terminal, flags: PruneFlags): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const home = resolveHome(terminal.env);
    const does = flags.yes === true && flags.dryRun !== true;
    const pruned = does ? await carryOut(store, home, flags) : await foresee(store, flags);
    if (does && pruned.sessions.length > 0) noteAct(home, 'sessions prune', `older than ${span(flags.olderThan)}: ${pruned.sessions.length} conversations, ${pruned.messages} messages`);
    if (flags.json === true) return terminal.write(json({ removed: does, ...pruned }));
    const what = pruned.sessions.length === 0 ? `There is no conversation in which nobody has spoken for ${span(flags.olderThan)}.` : `${pruned.sessions.length} conversations in which nobody has spoken for ${span(flags.olderThan)}, with ${pruned.messages} messages, ${does ? 'are removed' : 'would be removed'}.`;
    const left = pruned.left.map(({ id, why }) => `${id} stays: ${why}.\n`).join('');
    return terminal.write(`${what}\n${left}${does || pruned.sessions.length === 0 ? '' : 'Nothing is removed yet. hermes export saves them first; --yes removes them for good.\n'}`);
  });

/** What takes conversations away: one, or all that are old. */
export const removalCommands = (terminal: Terminal): readonly Command[] => [
  new Command('delete')
    .description('Remove one conversation for good; says first what that is')
    .argument('<session>', 'id, start of an id, or title')
    .option('--yes', 'do it')
    .option('--json', 'print JSON')
    .addHelpText('after', `\n${goesWithIt}\n\nExample:\n  hermes sessions delete 20261115_100500_1a2b3c4d --yes`)
    .action((name: string, flags: DeleteFlags) => remove(terminal, name, flags)),
  new Command('prune')
    .description('Remove conversations in which nobody has spoken for long; says first which')
    .requiredOption('--older-than <age>', 'for so long, such as 90d', readAge)
    .option('--agent <id>', 'only of this agent')
    .option('--account <name>', 'only of this account')
    .option('--dry-run', 'only say what would be removed')
    .option('--yes', 'do it')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nstore.session_days has the gateway do this by itself.\n\nExamples:\n  hermes sessions prune --older-than 90d\n  hermes sessions prune --older-than 90d --account telegram --yes')
    .action((flags: PruneFlags) => prune(terminal, flags)),
];
