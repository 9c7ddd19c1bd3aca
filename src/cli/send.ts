import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Command } from 'commander';
import { resolveHome } from '../config/home.ts';
import type { OutboundMedia, Target } from '../core/message.ts';
import { targetText } from '../delivery/directory.ts';
import { keepLocally } from '../delivery/local-file.ts';
import { mirrorSend } from '../delivery/mirror.ts';
import { keepOutgoing } from '../delivery/outgoing-file.ts';
import { resolveTarget } from '../delivery/resolve-target.ts';
import type { Destination, ResolveDeps } from '../delivery/resolve-target.ts';
import { awaitMessage, enqueueMessage } from '../delivery/send-message.ts';
import { systemClock } from '../lib/clock.ts';
import { isServed } from '../store/messages/delivery-states.ts';
import type { Store } from '../store/store.ts';
import { readSeconds } from './arguments/read-seconds.ts';
import { readPipedInput } from './arguments/piped-input.ts';
import { configTargets } from './configuration/config-targets.ts';
import { requireConfig } from './configuration/settings.ts';
import { Exit, json, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { withStore } from './home/open-home.ts';

interface SendFlags {
  readonly to: string;
  readonly text?: string;
  readonly file: readonly string[];
  readonly voice?: true;
  readonly asDocument?: true;
  readonly wait: boolean;
  readonly timeout: number;
  readonly json?: true;
}

/** What became of the message at one place. */
interface Report {
  readonly target: string;
  readonly state: 'sent' | 'failed' | 'waiting' | 'stored' | 'kept';
  readonly messageIds?: readonly string[];
  readonly detail?: string;
}

/** 0: it is there, or kept where nobody waits for it. 1: it was given up. 2: nothing was sent for what was asked. 3: it is still on its way. */
const exitCodes = { refused: 2, failed: 1, late: 3 } as const;

const refuse = (terminal: Terminal, reason: string): never => {
  terminal.writeError(`Nothing was sent: ${reason}\n`);
  throw new Exit(exitCodes.refused);
};

/** Where a command comes from that the agent runs. */
const originOf = async (store: Store, terminal: Terminal, targets: ResolveDeps): Promise<Target | undefined> => {
  const read = (name: string): string | undefined => terminal.env[`HERMES_SESSION_${name}`] || undefined;
  const [account, chatId, threadId] = [read('SOURCE') ?? read('PLATFORM'), read('CHAT_ID'), read('THREAD_ID')];
  if (account === undefined || chatId === undefined) return undefined;
  const { destinations } = await store.read((db) => resolveTarget(db, targets, { text: targetText({ account, chatId, ...(threadId !== undefined && { threadId }) }) }));
  const [found] = destinations;
  return found?.type === 'chat' ? found.target : undefined;
};

const textOf = async (words: readonly string[], flags: SendFlags): Promise<string> => flags.text ?? (words.length > 0 ? words.join(' ') : await readPipedInput());

const unreadable = (error: unknown): string | undefined => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined);

const copyFiles = async (terminal: Terminal, flags: SendFlags, home: string): Promise<readonly OutboundMedia[]> => {
  const media: OutboundMedia[] = [];
  for (const path of flags.file) {
    try {
      if (!(await stat(path)).isFile()) refuse(terminal, `${path} is not a file.`);
      const file = { name: basename(path), bytes: createReadStream(path) as AsyncIterable<Uint8Array>, asVoice: flags.voice === true, asDocument: flags.asDocument === true };
      media.push(await keepOutgoing(join(home, 'media'), file, { clock: systemClock, signal: new AbortController().signal }));
    } catch (error) {
      const code = unreadable(error);
      if (code === undefined) throw error;
      refuse(terminal, `${path} cannot be read (${code}).`);
    }
  }
  return media;
};

interface Message {
  readonly text: string;
  readonly media: readonly OutboundMedia[];
}

interface Sending {
  readonly store: Store;
  readonly targets: ResolveDeps;
  readonly home: string;
  readonly flags: SendFlags;
  /** Names this call; deliveries are numbered behind it. */
  readonly key: string;
}

const toChat = async ({ store, targets, flags, key }: Sending, target: Target, { text, media }: Message): Promise<Report> => {
  const named = targetText(target);
  const platform = targets.account(target.account)?.platform;
  if (platform === undefined) return { target: named, state: 'failed', detail: `the account ${target.account} is not configured` };
  const { keys, served } = await store.write(async (tx) => {
    const enqueued = await enqueueMessage(tx, platform, { key, target, text, ...(media.length > 0 && { media }) });
    await mirrorSend(tx, { target, text: text.trim() === '' ? media.map(({ name }) => `(file ${name})`).join(' ') : text, how: 'sent by the owner with `hermes send`', isOwn: false });
    return { keys: enqueued, served: await isServed(tx, target.account) };
  });
  if (!served) return { target: named, state: 'stored', detail: `no gateway serves ${target.account} now; it goes out when one does (hermes gateway run)` };
  if (!flags.wait) return { target: named, state: 'stored' };
  const outcome = await awaitMessage({ store, clock: systemClock, timeoutMs: flags.timeout * 1000 }, keys, new AbortController().signal);
  if (outcome.state === 'sent') return { target: named, state: 'sent', messageIds: outcome.messageIds };
  return outcome.state === 'failed' ? { target: named, state: 'failed', detail: outcome.error } : { target: named, state: 'waiting', detail: `not delivered within ${flags.timeout} s; it is kept and tried again` };
};

const toEach = async (sending: Sending, destinations: readonly Destination[], message: Message): Promise<readonly Report[]> =>
  Promise.all(
    destinations.map(async (destination, i): Promise<Report> => {
      if (destination.type === 'chat') return toChat({ ...sending, key: `${sending.key}:${i}` }, destination.target, message);
      const path = await keepLocally(sending.home, { name: 'misc', title: 'Message', text: message.text }, systemClock);
      return { target: 'local', state: 'kept', detail: path };
    }),
  );

const print = (terminal: Terminal, reports: readonly Report[]): void => {
  const rows = reports.map(({ target, state, messageIds, detail }) => [target, state, [messageIds === undefined ? '' : `as ${messageIds.join(', ')}`, detail ?? ''].filter((part) => part !== '').join(' ')]);
  terminal.write(`${table(rows)}\n`);
};

const send = async (terminal: Terminal, words: readonly string[], flags: SendFlags): Promise<void> => {
  const targets = configTargets(await requireConfig(terminal));
  const text = await textOf(words, flags);
  if (text.trim() === '' && flags.file.length === 0) refuse(terminal, 'there is no text. Give it with --text, behind the options or through a pipe, or a file with --file.');
  const home = resolveHome(terminal.env);
  const reports = await withStore(terminal, async (store) => {
    const origin = await originOf(store, terminal, targets);
    const { destinations, problems } = await store.read((db) => resolveTarget(db, targets, { text: flags.to, origin }));
    if (problems.length > 0) refuse(terminal, `${problems.join('; ')}.`);
    const media = await copyFiles(terminal, flags, home);
    return toEach({ store, targets, home, flags, key: `cli:${randomUUID()}` }, destinations, { text, media });
  });
  if (flags.json === true) terminal.write(json(reports));
  else print(terminal, reports);
  if (reports.some(({ state }) => state === 'failed')) throw new Exit(exitCodes.failed);
  if (reports.some(({ state }) => state === 'waiting')) throw new Exit(exitCodes.late);
};

const collect = (path: string, paths: readonly string[]): readonly string[] => [...paths, path];

export const sendCommand = (terminal: Terminal): Command =>
  new Command('send')
    .description('Send a message to a chat, without the model')
    .requiredOption('--to <target>', 'platform (its home channel), platform:chat[:thread], platform:#name, origin, local or all; several with commas')
    .option('--text <text>', 'what to say, in markdown; otherwise the words behind the options, or what is piped in')
    .option('--file <path>', 'send a file with it; may be given several times', collect, [])
    .option('--voice', 'sound files as voice messages')
    .option('--as-document', 'pictures as files')
    .option('--no-wait', 'leave as soon as it is stored')
    .option('--timeout <seconds>', 'how long to wait for the delivery', readSeconds, 60)
    .option('--json', 'print JSON')
    .argument('[words...]', 'what to say')
    .addHelpText('after', '\nIt is stored first and goes out through the running gateway, or through the next one.\nExit code: 0 delivered (or stored, when nobody waits), 1 given up, 2 nothing was sent, 3 still on its way.\n\nExamples:\n  hermes send --to telegram "the backup is done"\n  make test 2>&1 | tail -20 | hermes send --to telegram:#ops\n  hermes send --to all --file report.pdf --text "The report"')
    .action((words: string[], flags: SendFlags) => send(terminal, words, flags));
