import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ReadStream, WriteStream } from 'node:tty';
import { defaultModel } from '../../agent/models/options.ts';
import { commands } from '../../commands/registry.ts';
import type { Environment } from '../../config/variables.ts';
import type { Clock } from '../../lib/clock.ts';
import { listSessions } from '../../store/sessions/sessions.ts';
import { applyCompletion, completionsOf } from './complete.ts';
import type { CompletionSources } from './complete.ts';
import type { Printed } from './conversation.ts';
import type { Core } from './core.ts';
import { addToHistory } from './history.ts';
import { readInput, terminalCommands, terminalHelp } from './input.ts';
import { Keyboard } from './keyboard.ts';
import type { Key } from './keys.ts';
import { layOut, widestText } from './layout.ts';
import { printedLines, standsTogether } from './printed-lines.ts';
import { newPrompt, press, remember } from './prompt.ts';
import type { Action, Prompt } from './prompt.ts';
import { Screen } from './screen.ts';
import type { Recap } from './recap.ts';
import { ChatSession } from './session.ts';
import type { Front } from './session.ts';
import { runShell } from './shell.ts';
import type { Window } from './situation.ts';
import type { StatusFacts } from './status-line.ts';
import { emptyEditor } from './editor.ts';
import type { Line } from './style.ts';

export interface InteractiveOptions {
  readonly core: Core;
  readonly window: Window;
  readonly recap: Recap | undefined;
  readonly clock: Clock;
  readonly env: Environment;
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly colored: boolean;
  readonly history: readonly string[];
}

const frameMs = 16;
const twiceMs = 2_000;
const defaultContext = 128_000;
const completedSessions = 50;

/** The conversation on a screen: finished messages scroll away as they are, only the bottom is drawn anew. */
export class InteractiveChat implements Front {
  readonly #options: InteractiveOptions;
  readonly #screen: Screen;
  readonly #keyboard: Keyboard;
  readonly #left = Promise.withResolvers<void>();
  readonly session: ChatSession;
  #prompt: Prompt;
  #finished: Line[] = [];
  #last: Printed | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hint: string | undefined;
  #interruptedMs = 0;
  #lastShell: string | undefined;
  #isCompleting = false;
  #typedAhead: Key[] = [];
  /** Who has the screen. */
  #holder: 'us' | 'shell' | 'nobody' = 'nobody';

  constructor(options: InteractiveOptions) {
    const { output } = options;
    this.#options = options;
    this.#prompt = newPrompt(options.history);
    this.session = new ChatSession({ core: options.core, window: options.window, recap: options.recap, clock: options.clock, front: this });
    const write = (text: string): void => void output.write(text);
    this.#screen = new Screen({ colored: options.colored, size: () => this.#size(), write });
    this.#keyboard = new Keyboard(options.input, write, (key) => this.#onKey(key));
  }

  /** Resolves when the person leaves. */
  async run(): Promise<void> {
    const { output } = this.#options;
    const onResize = (): void => {
      this.#screen.invalidate();
      this.changed();
    };
    const onContinue = (): void => {
      if (this.#holder !== 'shell') this.#take();
    };
    const onExit = (): void => this.#release('nobody');
    const leave = (): void => this.#left.resolve();
    output.on('resize', onResize);
    // The window is gone: there is nobody left to show anything to.
    output.on('error', leave);
    process.on('SIGCONT', onContinue);
    process.once('exit', onExit);
    for (const name of ['SIGTERM', 'SIGHUP'] as const) process.once(name, leave);
    this.#take();
    const running = this.session.run();
    try {
      await Promise.race([this.#left.promise, this.session.left, running]);
    } finally {
      await this.session.close();
      output.off('resize', onResize);
      process.off('SIGCONT', onContinue);
      for (const name of ['SIGTERM', 'SIGHUP'] as const) process.off(name, leave);
      this.#release('nobody');
      process.off('exit', onExit);
    }
    await running;
  }

  print(item: Printed): void {
    const look = { columns: Math.min(this.#size().columns, widestText), colored: this.#options.colored };
    if (!standsTogether(this.#last, item)) this.#finished.push([]);
    this.#finished.push(...printedLines(item, look));
    this.#last = item;
    this.changed();
  }

  changed(): void {
    if (this.#holder === 'us') this.#timer ??= setTimeout(() => this.#draw(), frameMs);
  }

  #size(): { readonly columns: number; readonly rows: number } {
    const { columns, rows } = this.#options.output;
    return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#holder !== 'us') return;
    const { clock, colored } = this.#options;
    const nowMs = clock.now();
    if (nowMs - this.#interruptedMs >= twiceMs) this.#hint = undefined;
    const area = layOut({ live: this.session.conversation.live, prompt: this.#prompt, status: this.#status(), hint: this.#hint, nowMs }, this.#size(), colored);
    this.#screen.draw(area, this.#finished.splice(0));
  }

  #status(): StatusFacts {
    const { model } = this.#options.core.config.sections;
    const { session } = this;
    const current = session.situation?.session;
    return {
      model: current?.settings.model ?? current?.model ?? defaultModel(model),
      contextTokens: session.situation?.contextTokens ?? 0,
      contextLength: model.context_length ?? defaultContext,
      usage: current?.usage ?? { inputTokens: 0, outputTokens: 0 },
      session: current === undefined ? undefined : { id: current.id, title: current.title },
      workingMs: session.workingMs,
      waiting: session.situation?.waiting ?? 0,
      away: session.away,
      unsent: session.unsent,
    };
  }

  #take(): void {
    if (this.#holder === 'us') this.#keyboard.close();
    this.#holder = 'us';
    this.#keyboard.open();
    this.#screen.invalidate();
    this.#draw();
  }

  #release(to: 'shell' | 'nobody'): void {
    if (this.#holder !== 'us') return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#holder = to;
    this.#screen.release(this.#finished.splice(0));
    this.#keyboard.close();
  }

  /** What is typed while a completion is looked up comes after it. */
  #onKey(key: Key): void {
    if (this.#isCompleting) {
      this.#typedAhead.push(key);
      return;
    }
    const { prompt, action } = press(this.#prompt, key);
    this.#prompt = prompt;
    if (action !== undefined) this.#act(action);
    // What was typed is seen at once.
    this.#draw();
  }

  #act(action: Action): void {
    switch (action.type) {
      case 'submit':
        return this.#submit(action.text);
      case 'complete':
        return this.#inBackground(this.#complete());
      case 'interrupt':
        return this.#interrupt();
      case 'stop':
        return this.#stop();
      case 'leave':
        return this.#left.resolve();
      case 'clear':
        return this.#screen.clear();
      case 'suspend':
        return this.#suspend();
      default:
        return action satisfies never;
    }
  }

  #submit(text: string): void {
    const { core } = this.#options;
    this.#prompt = remember(this.#prompt, text);
    this.#inBackground(addToHistory(join(core.home, 'history'), text));
    const input = readInput(text, { lastShell: this.#lastShell, hasQuestion: this.session.conversation.question !== undefined });
    switch (input.type) {
      case 'leave':
        return this.#left.resolve();
      case 'clear':
        return this.#screen.clear();
      case 'redraw':
        return this.#screen.invalidate();
      case 'help':
        this.print({ type: 'notice', text: terminalHelp });
        return void this.session.say(text);
      case 'shell':
        return this.#inBackground(this.#shell(input.command));
      case 'choice':
        return void (this.session.choose(input.number) || this.session.say(text));
      case 'say':
        return void this.session.say(input.text);
      default:
        return input satisfies never;
    }
  }

  /** Nobody waits for it; what goes wrong is said. */
  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.print({ type: 'notice', text: `⚠️ ${error instanceof Error ? error.message : String(error)}` }));
  }

  /** Once stops the answer or empties the line, twice leaves. */
  #interrupt(): void {
    const nowMs = this.#options.clock.now();
    const again = nowMs - this.#interruptedMs < twiceMs;
    this.#interruptedMs = nowMs;
    if (this.#prompt.editor.text !== '' && this.session.workingMs === undefined) {
      this.#prompt = { ...this.#prompt, editor: { ...emptyEditor, killed: this.#prompt.editor.killed } };
      this.#interruptedMs = 0;
    } else if (again) this.#left.resolve();
    else {
      this.#stop();
      this.#hint = 'Ctrl-C again to leave';
    }
  }

  #stop(): void {
    if (this.session.workingMs !== undefined) this.session.say('/stop', { silent: true });
  }

  #suspend(): void {
    this.#release('nobody');
    process.kill(0, 'SIGTSTP');
  }

  async #shell(command: string): Promise<void> {
    if (command === '') return;
    this.#lastShell = command;
    this.print({ type: 'shell', command });
    this.#release('shell');
    const end = await runShell(command, this.#options.env, 'inherit');
    this.#last = { type: 'shell', command };
    if (end !== undefined) this.print({ type: 'notice', text: end });
    this.#take();
  }

  async #complete(): Promise<void> {
    this.#isCompleting = true;
    try {
      const { editor, menu } = applyCompletion(this.#prompt.editor, await completionsOf(this.#prompt.editor, this.#sources()));
      this.#prompt = { ...this.#prompt, editor, menu };
    } finally {
      this.#isCompleting = false;
      for (const key of this.#typedAhead.splice(0)) this.#onKey(key);
      this.changed();
    }
  }

  #sources(): CompletionSources {
    const { core } = this.#options;
    return {
      commands: [...commands.flatMap(({ name, aliases }) => [name, ...aliases]), ...terminalCommands.map(({ name }) => name)],
      sessions: async () => (await core.store.read((db) => listSessions(db, { account: core.account, limit: completedSessions }))).map((each) => each.title ?? each.id),
      folder: process.cwd(),
      userFolder: this.#options.env['HOME'] ?? homedir(),
    };
  }
}
