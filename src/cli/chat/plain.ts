import { createInterface } from 'node:readline';
import type { Clock } from '../../lib/clock.ts';
import type { Environment } from '../../config/variables.ts';
import type { Printed } from './conversation.ts';
import type { Core } from './core.ts';
import { readInput, terminalHelp } from './input.ts';
import { widestText } from './layout.ts';
import { printedLines } from './printed-lines.ts';
import type { Recap } from './recap.ts';
import { ChatSession } from './session.ts';
import type { Front } from './session.ts';
import { runShell } from './shell.ts';
import type { Window } from './situation.ts';
import { paintLine } from './style.ts';

export interface PlainOptions {
  readonly core: Core;
  readonly window: Window;
  readonly recap: Recap | undefined;
  readonly clock: Clock;
  readonly env: Environment;
  readonly input: NodeJS.ReadStream;
  readonly columns: number;
  readonly colored: boolean;
  write(text: string): void;
}

const twiceMs = 2_000;
/** One press of Control-C may arrive more than once: from the terminal, and passed on by the launcher. */
const samePressMs = 100;

/** The conversation as lines that are only ever added, for terminals that can do no more, and for pipes. */
export class PlainChat implements Front {
  readonly #options: PlainOptions;
  readonly #left = Promise.withResolvers<void>();
  readonly session: ChatSession;
  #interruptedMs = 0;
  #lastShell: string | undefined;

  constructor(options: PlainOptions) {
    this.#options = options;
    this.session = new ChatSession({ core: options.core, window: options.window, recap: options.recap, clock: options.clock, front: this });
  }

  /** Resolves when the person leaves, or the input has ended and everything is answered. */
  async run(): Promise<void> {
    const onInterrupt = (): void => this.#interrupt();
    const leave = (): void => this.#left.resolve();
    process.on('SIGINT', onInterrupt);
    for (const name of ['SIGTERM', 'SIGHUP'] as const) process.once(name, leave);
    const running = this.session.run();
    try {
      await Promise.race([this.#left.promise, this.session.left, running, this.#read()]);
    } finally {
      await this.session.close();
      process.off('SIGINT', onInterrupt);
      for (const name of ['SIGTERM', 'SIGHUP'] as const) process.off(name, leave);
      this.#options.input.pause();
    }
    await running;
  }

  print(item: Printed): void {
    const { columns, colored, input, write } = this.#options;
    // At a terminal, what was typed stands there already.
    if ((item.type === 'said' || item.type === 'shell') && input.isTTY) return;
    write(`${printedLines(item, { columns: Math.min(columns, widestText), colored }).map((each) => paintLine(each, colored)).join('\n')}\n\n`);
  }

  /** Only what is finished is shown. */
  changed(): void {}

  /** A line that ends in a backslash goes on in the next one. From a pipe, each message waits for the answer to the one before, or for a question that it answers. */
  async #read(): Promise<void> {
    const { input } = this.#options;
    await this.session.ready;
    const lines = createInterface({ input, terminal: false });
    let text = '';
    for await (const line of lines) {
      if (line.endsWith('\\')) {
        text += `${line.slice(0, -1)}\n`;
        continue;
      }
      const whole = text + line;
      text = '';
      if (whole.trim() !== '' && !(await this.#submit(whole))) return;
      if (!input.isTTY) await this.session.settled();
    }
    if (input.isTTY) return;
    while ((await this.session.settled()) === 'asked') await this.session.leaveUnanswered();
  }

  /** False when the person wants to leave. */
  async #submit(text: string): Promise<boolean> {
    const input = readInput(text, { lastShell: this.#lastShell, hasQuestion: this.session.conversation.question !== undefined });
    switch (input.type) {
      case 'leave':
        return false;
      case 'clear':
      case 'redraw':
        return true;
      case 'help':
        this.print({ type: 'notice', text: terminalHelp });
        this.session.say(text);
        return true;
      case 'shell':
        return this.#shell(input.command);
      case 'choice':
        if (!this.session.choose(input.number)) this.session.say(text);
        return true;
      case 'say':
        this.session.say(input.text);
        return true;
      default:
        return input satisfies never;
    }
  }

  async #shell(command: string): Promise<true> {
    if (command === '') return true;
    this.#lastShell = command;
    this.print({ type: 'shell', command });
    const end = await runShell(command, this.#options.env, this.#options.input.isTTY ? 'inherit' : 'ignore');
    if (end !== undefined) this.print({ type: 'notice', text: end });
    return true;
  }

  #interrupt(): void {
    const nowMs = this.#options.clock.now();
    const sinceMs = nowMs - this.#interruptedMs;
    if (sinceMs < samePressMs) return;
    this.#interruptedMs = nowMs;
    if (sinceMs < twiceMs) this.#left.resolve();
    else if (this.session.workingMs !== undefined) this.session.say('/stop', { silent: true });
    else this.#options.write('Ctrl-C again to leave\n');
  }
}
