import { PlatformError } from '../core/errors.ts';
import type { OutboundMessage, Target } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import { slept } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { untilAborted } from '../lib/until-aborted.ts';
import type { Adapter, Platform } from '../platforms/contract.ts';
import type { Connections } from './connections.ts';
import type { DeliveryGate } from './gate.ts';
import { withoutMediaTags } from './media-directives.ts';
import { mayBecomeSilent } from './silence.ts';

/** Shown behind a text that still grows. */
export const cursor = ' ▉';
/** Less than this is not worth a message of its own yet. */
const leastCharacters = 4;
const callTimeoutMs = 10_000;
/** Made once: this ends every turn. */
const written = new Error('the answer is written');
/** An answer that is ready does not wait longer than this for an edit under way; whose message it is, is known. */
const lastEditMs = 1_500;

export interface PreviewOptions {
  readonly key: string;
  readonly target: Target;
  readonly connections: Connections;
  readonly gate: DeliveryGate;
  readonly clock: Clock;
  readonly log: Logger;
  /** A preview message left by an earlier attempt at the same turn. */
  readonly existing?: string;
  /** Quick answers are shown at once and whole; only what takes longer than this gets a preview. */
  readonly delayMs: number;
  /** Shown behind the text while it grows; a cursor when left out. */
  readonly mark?: string;
  /** Earlier deliveries to the chat are still on their way: a preview would overtake them. */
  mustWait(): Promise<boolean>;
  /** Called as soon as the platform has shown the first text, before anything else is sent. */
  onShown(messageId: string): Promise<void>;
}

/**
 * Shows an answer while it grows, by one message that is edited. It never shows the final text: that is a delivery which
 * takes over the message (`finish` names it). Whatever goes wrong here costs the preview, never the answer.
 */
export class LivePreview {
  readonly #options: PreviewOptions;
  readonly #stop = new AbortController();
  readonly #late = new AbortController();
  readonly #startedMs: number;
  #text = '';
  #shownText = '';
  #messageId: string | undefined;
  #broken = false;
  /** Nobody waits any more for the first text to appear. */
  #abandoned = false;
  #lastEditMs = 0;
  #loop: Promise<void> | undefined;
  /** The loop has a call under way, or is about to. */
  #isShowing = false;

  constructor(options: PreviewOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
    this.#messageId = options.existing;
  }

  push(delta: string): void {
    this.show(this.#text + delta);
  }

  /** Puts another text in the place of what is shown. */
  show(text: string): void {
    this.#text = text;
    if (this.#broken || this.#stop.signal.aborted) return;
    this.#loop ??= this.#run();
  }

  /** Whether people have seen a piece of it. */
  get isShown(): boolean {
    return this.#messageId !== undefined;
  }

  /** The message that the final text has to take over, if one is visible. Waits for a call under way; one who halts waits only a moment, and what appears later is taken away again. */
  async finish(halt: AbortSignal = new AbortController().signal): Promise<string | undefined> {
    this.#stop.abort(written);
    if (this.#loop === undefined || !this.#isShowing || this.#abandoned) return this.#messageId;
    const timer = setTimeout(() => this.#late.abort(), lastEditMs);
    const isOver = this.#loop.then(() => true);
    const isGivenUp = Promise.all([untilAborted(this.#late.signal), untilAborted(halt)]).then(() => false);
    this.#abandoned = !(await Promise.race([isOver, isGivenUp]));
    clearTimeout(timer);
    return this.#messageId;
  }

  async #run(): Promise<void> {
    const { clock, log, target } = this.#options;
    try {
      while (!this.#stop.signal.aborted && !this.#broken) {
        // Its time may have come in the moment in which `finish` found it waiting.
        if (!(await slept(clock, this.#pauseMs(), this.#stop.signal)) || this.#stop.signal.aborted) return;
        this.#isShowing = true;
        if (this.#pauseMs() === 0) await this.#show();
        this.#isShowing = false;
        if (this.#shownText === this.#text) return;
      }
    } catch (error) {
      this.#broken = true;
      log.debug({ err: error, account: target.account, chat: target.chatId }, 'preview.ended');
    } finally {
      this.#isShowing = false;
      this.#loop = undefined;
    }
  }

  #pauseMs(): number {
    const { clock, connections, delayMs, gate, target } = this.#options;
    const intervalMs = connections.platform(target.account)?.limits.editIntervalMs ?? 1000;
    const now = clock.now();
    return Math.max(this.#lastEditMs + intervalMs - now, this.#startedMs + delayMs - now, gate.waitMs(target), 0);
  }

  async #show(): Promise<void> {
    const { connections, target } = this.#options;
    const adapter = connections.adapter(target.account);
    const platform = connections.platform(target.account);
    const text = this.#text;
    if (adapter?.edits === undefined || platform === undefined) {
      this.#broken = true;
      return;
    }
    const readable = withoutMediaTags(text);
    if (readable.trim().length < leastCharacters || mayBecomeSilent(readable)) {
      this.#shownText = text;
      return;
    }
    const message = this.#message(platform, readable);
    if (message === undefined || (await this.#call(adapter, message))) this.#shownText = text;
  }

  /** Undefined once the text has outgrown one message: the rest is shown when it is final. */
  #message(platform: Platform, text: string): OutboundMessage | undefined {
    const shown = `${text.trimEnd()}${this.#options.mark ?? cursor}`;
    if (platform.limits.measure(shown) > platform.limits.text) return undefined;
    return { key: this.#options.key, target: this.#options.target, text: shown, quiet: true, growing: true };
  }

  /** False when it has to be tried again. */
  async #call(adapter: Adapter, message: OutboundMessage): Promise<boolean> {
    const { clock, connections, gate, target } = this.#options;
    try {
      if (this.#messageId === undefined) return await this.#begin(adapter, message);
      await adapter.edits?.edit(this.#messageId, message, false, AbortSignal.any([this.#late.signal, AbortSignal.timeout(callTimeoutMs)]));
      connections.succeeded(target.account);
      return true;
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'rate_limited') throw error;
      await gate.close(target, error);
      return false;
    } finally {
      this.#lastEditMs = clock.now();
    }
  }

  async #begin(adapter: Adapter, message: OutboundMessage): Promise<boolean> {
    const { connections, gate, mustWait, onShown, target } = this.#options;
    if ((await mustWait()) || gate.waitMs(target) > 0 || this.#stop.signal.aborted) return false;
    const receipt = await adapter.send(message, AbortSignal.timeout(callTimeoutMs));
    connections.succeeded(target.account);
    const [messageId] = receipt.messageIds;
    if (messageId === undefined) return true;
    if (this.#abandoned) {
      await adapter.edits?.remove(target, messageId, AbortSignal.timeout(callTimeoutMs));
      return true;
    }
    this.#messageId = messageId;
    await onShown(messageId);
    return true;
  }
}
