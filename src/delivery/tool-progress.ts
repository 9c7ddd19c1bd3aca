import type { TurnEvent } from '../core/turn.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { DisplaySettings } from './display.ts';

const heartbeatMs = 180_000;
/** Older lines make room: the message must stay one message. */
const mostLines = 20;
const verbosePreviewLength = 200;

const emojis: Readonly<Record<string, string>> = {
  terminal: '💻',
  process: '💻',
  read_file: '📖',
  write_file: '✍️',
  patch: '🔧',
  search_files: '🔎',
  web_search: '🔍',
  web_fetch: '🌐',
  memory: '🧠',
  session_search: '🗂',
  todo: '📋',
  delegate_task: '🤝',
  send_message: '✉️',
  cronjob: '⏰',
  clarify: '❓',
};

/** A message that shows a text for as long as somebody keeps it up to date. */
interface ShownMessage {
  show(text: string): void;
  finish(): Promise<unknown>;
}

export interface ToolProgressOptions {
  readonly display: Pick<DisplaySettings, 'tool_progress' | 'tool_preview_length' | 'long_running_notifications'>;
  readonly clock: Clock;
  /** Each number is a further message. */
  open(number: number): ShownMessage | undefined;
  /** Takes the messages away again, where that is wanted. */
  cleanUp(): Promise<void>;
  onError(error: unknown): void;
}

/** Made once: this ends every turn. */
const ended = new Error('the turn is over');

/** Markdown of a text that somebody else wrote. */
const quoted = (text: string): string => `\`${text.replaceAll('`', 'ˋ')}\``;

const minutes = (ms: number): string => `${Math.max(1, Math.round(ms / 60_000))} min`;

/**
 * Shows what the agent does while it has nothing to say: its tool calls in one message that grows, and every few minutes that it is still at work.
 * It is a courtesy: nothing waits for it and nothing depends on it.
 */
export class ToolProgress implements AsyncDisposable {
  readonly #options: ToolProgressOptions;
  readonly #startedMs: number;
  readonly #ended = new AbortController();
  #lines: string[] = [];
  #last: { name: string; times: number } | undefined;
  #status = '';
  #message: ShownMessage | undefined;
  #count = 0;
  #beating: Promise<void> | undefined;

  constructor(options: ToolProgressOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
    if (options.display.long_running_notifications) this.#beating = this.#beat();
  }

  onEvent(event: TurnEvent): void {
    if (event.type === 'tool_started') this.#started(event);
    // What is said stands below the calls so far; those that follow belong below it.
    if (event.type === 'text') this.#leave();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(ended);
    await this.#beating;
    await this.#message?.finish();
    try {
      await this.#options.cleanUp();
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #started(event: Extract<TurnEvent, { type: 'tool_started' }>): void {
    const { tool_progress, tool_preview_length } = this.#options.display;
    if (tool_progress === 'off' || tool_progress === 'log') return;
    const again = this.#last?.name === event.name;
    this.#last = { name: event.name, times: again ? (this.#last?.times ?? 0) + 1 : 1 };
    const length = tool_progress === 'verbose' ? verbosePreviewLength : tool_preview_length;
    const preview = event.preview.length > length ? `${event.preview.slice(0, length)}…`.toWellFormed() : event.preview;
    const name = `${emojis[event.name] ?? '⚙️'} ${event.name}`;
    const line = length === 0 || preview === '' ? name : `${name} ${quoted(preview)}`;
    if (tool_progress === 'new' && again) this.#lines[this.#lines.length - 1] = `${name} (${this.#last.times} times)`;
    else this.#lines.push(line);
    this.#lines = this.#lines.slice(-mostLines);
    this.#show();
  }

  #leave(): void {
    if (this.#message === undefined) return;
    void this.#message.finish();
    this.#message = undefined;
    this.#lines = [];
    this.#last = undefined;
  }

  #show(): void {
    if (this.#message === undefined) {
      this.#message = this.#options.open(this.#count);
      this.#count += 1;
    }
    this.#message?.show([...this.#lines, this.#status].filter((line) => line !== '').join('\n'));
  }

  async #beat(): Promise<void> {
    const { clock } = this.#options;
    while (await slept(clock, heartbeatMs, this.#ended.signal)) {
      this.#status = `⏳ Still working, ${minutes(clock.now() - this.#startedMs)} so far${this.#last === undefined ? '' : ` (${this.#last.name})`}. /stop ends it.`;
      this.#show();
    }
  }
}
