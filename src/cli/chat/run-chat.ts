import { join } from 'node:path';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Clock } from '../../lib/clock.ts';
import type { Terminal } from '../environment.ts';
import { Core } from './core.ts';
import { loadHistory } from './history.ts';
import { InteractiveChat } from './interactive.ts';
import { PlainChat } from './plain.ts';
import { recapOf } from './recap.ts';
import { openWindow } from './window.ts';
import type { OpenedWindow, WindowWish } from './window.ts';

export interface ChatRun {
  readonly wish: WindowWish;
  readonly isPlain: boolean;
  readonly colored: boolean;
  readonly clock: Clock;
}

const openFront = async (terminal: Terminal, core: Core, opened: OpenedWindow, run: ChatRun): Promise<InteractiveChat | PlainChat> => {
  const recap = opened.session === undefined ? undefined : await recapOf(core.store, opened.session, run.clock.now());
  const shared = { core, window: opened.window, recap, clock: run.clock, env: terminal.env, colored: run.colored };
  if (run.isPlain) return new PlainChat({ ...shared, input: process.stdin, columns: process.stdout.isTTY ? process.stdout.columns : 80, write: (text) => terminal.write(text) });
  return new InteractiveChat({ ...shared, input: process.stdin as ReadStream, output: process.stdout as WriteStream, history: await loadHistory(join(core.home, 'history')) });
};

const greeting = (terminal: Terminal, core: Core): string => {
  const where = core.isHost ? 'no gateway runs, hosting one here' : 'attached to the gateway';
  return `Hermes ${terminal.version} · ${where} · /help`;
};

/** What a person should know who leaves. */
const farewell = (chat: InteractiveChat | PlainChat, core: Core): string | undefined => {
  const { unsent, workingMs, situation } = chat.session;
  if (unsent > 0) return `${unsent === 1 ? 'One message was' : `${unsent} messages were`} not sent, because the gateway was away.`;
  if (workingMs !== undefined) return core.isHost ? 'The answer is not finished; it goes on when hermes or the gateway starts again. hermes -c shows it.' : 'The answer goes on. hermes -c shows it.';
  const session = situation?.session;
  return session === undefined || session.messageCount === 0 ? undefined : `hermes -c goes on here. Later:\nhermes -r ${session.title === null ? session.id : JSON.stringify(session.title)}`;
};

/** The conversation in this terminal until the person leaves. */
export const runChat = async (terminal: Terminal, run: ChatRun): Promise<void> => {
  const core = await Core.open(terminal);
  try {
    const opened = await openWindow(core.store, { account: core.account, routing: core.config.sections }, run.wish);
    const chat = await openFront(terminal, core, opened, run);
    if (process.stdin.isTTY) chat.print({ type: 'notice', text: greeting(terminal, core) });
    if (run.wish.continue === true && opened.session === undefined) chat.print({ type: 'notice', text: 'There is no earlier conversation; this is a new one.' });
    await chat.run();
    const words = process.stdin.isTTY ? farewell(chat, core) : undefined;
    if (words !== undefined) terminal.write(`\n${words}\n`);
  } finally {
    await core.close();
  }
};
