import { randomUUID } from 'node:crypto';
import { backoffMs } from '../../lib/backoff.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { attach, isAway } from '../../platforms/local/client.ts';
import type { Attachment, ClientFrame, LocalFile, ServerFrame } from '../../platforms/local/client.ts';

type Message = Extract<ClientFrame, { type: 'say' | 'press' }>;

export type LinkState =
  | { readonly type: 'connecting' }
  | { readonly type: 'connected' }
  /** The gateway went away; it is looked for again and again. */
  | { readonly type: 'away' }
  /** It will not take us, and trying again would not help. */
  | { readonly type: 'refused'; readonly reason: string };

export interface LinkOptions {
  readonly chat: string;
  readonly clock: Clock;
  /** Where the gateway is reached now. */
  path(): Promise<string>;
  /** The last entry that is known here. */
  cursor(): number | undefined;
  onFrame(frame: ServerFrame): void;
  onState(state: LinkState): void;
}

const waits = { baseMs: 25, capMs: 3_000 };
const resendMs = 1_000;

/**
 * The line to the gateway. It is made again whenever it breaks, from where it broke, and what was said meanwhile is kept and sent under
 * the same id, so that nothing is lost and nothing is said twice.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  /** Without an answer so far, in order. */
  readonly #unsent = new Map<string, Message>();
  #attachment: Attachment | undefined;
  #welcomed = false;
  #attempt = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Resolves when the link was closed, or refused for good. */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    this.#options.onState({ type: 'connecting' });
    while (!signal.aborted) {
      const goodbye = await this.#once();
      if (signal.aborted) return;
      if (goodbye !== undefined && goodbye.code !== 'stopping') {
        this.#options.onState({ type: 'refused', reason: goodbye.reason });
        return;
      }
      this.#attempt += 1;
      this.#options.onState({ type: 'away' });
      await slept(this.#options.clock, backoffMs(this.#attempt, waits), signal);
    }
  }

  get unsent(): number {
    return this.#unsent.size;
  }

  say(text: string, files: readonly LocalFile[] = []): string {
    return this.#send({ type: 'say', id: randomUUID(), text, ...(files.length > 0 && { files }) });
  }

  press(messageId: string, data: string): string {
    return this.#send({ type: 'press', id: randomUUID(), messageId, data });
  }

  /** A person has seen the chat up to here, or all of it. */
  seen(seq?: number): void {
    this.#attachment?.send({ type: 'seen', ...(seq !== undefined && { seq }) });
  }

  close(): void {
    this.#closing.abort();
    this.#attachment?.end();
  }

  #send(message: Message): string {
    this.#unsent.set(message.id, message);
    if (this.#welcomed) this.#attachment?.send(message);
    return message.id;
  }

  async #once(): Promise<Extract<ServerFrame, { type: 'goodbye' }> | undefined> {
    const { chat, path, cursor } = this.#options;
    try {
      using attachment = await attach({ path: await path(), chat, after: cursor(), onFrame: (frame) => this.#take(frame) });
      this.#attachment = attachment;
      if (this.#closing.signal.aborted) attachment.end();
      return await attachment.ended;
    } catch (error) {
      if (!isAway(error)) throw error;
      return undefined;
    } finally {
      this.#attachment = undefined;
      this.#welcomed = false;
    }
  }

  #take(frame: ServerFrame): void {
    if (frame.type === 'welcome') {
      this.#welcomed = true;
      this.#attempt = 0;
      for (const message of this.#unsent.values()) this.#attachment?.send(message);
      this.#options.onState({ type: 'connected' });
    }
    if (frame.type === 'accepted' || (frame.type === 'refused' && !frame.again)) this.#unsent.delete(frame.id);
    if (frame.type === 'refused' && frame.again) void this.#sendLater(frame.id);
    this.#options.onFrame(frame);
  }

  async #sendLater(id: string): Promise<void> {
    await slept(this.#options.clock, resendMs, this.#closing.signal);
    const message = this.#unsent.get(id);
    if (message !== undefined && this.#welcomed) this.#attachment?.send(message);
  }
}
