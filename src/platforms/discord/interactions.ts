import { PlatformError } from '../../core/errors.ts';
import type { InboundEvent } from '../../core/message.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Accepted, AccountData, Choices } from '../contract.ts';
import type { DiscordApi } from './api.ts';
import { interactionAnchor } from './parse-other.ts';
import type { Interaction } from './parse-other.ts';
import { integer, messageFlags, record, snowflake, text } from './wire.ts';

/** Kinds of first answers. https://discord.com/developers/docs/interactions/receiving-and-responding */
const answers = { message: 4, deferredMessage: 5, deferredUpdate: 6 } as const;

/** Discord takes answers for 15 minutes. */
const lifeMs = 14 * 60_000;

/** After this a command is told to wait, before Discord gives it up. */
const patienceMs = 1500;

const mostOpen = 1000;

const prefix = 'interaction:';

/** A command whose answer Discord waits for: it takes the place of "is thinking". */
export interface Awaited {
  readonly token: string;
  readonly applicationId: string;
}

/** Commands and presses between their arrival and their answer. */
export interface Interactions {
  readonly choices: Choices;
  /** Hands an interaction on and answers it first, as Discord wants it within three seconds. Rejects when it could not be stored. */
  take(interaction: Interaction, accept: () => Promise<Accepted>, signal: AbortSignal): Promise<void>;
  /** What a target is attached to, when that is a command which is still waited for. */
  awaited(replyTo: string | undefined): Promise<Awaited | undefined>;
  /** It has its answer, or can have none any more. */
  settle(replyTo: string): Promise<void>;
  forgetOld(): Promise<void>;
}

const notAllowed = 'I may not answer you here.';

const longestAnswer = 2000;

class OpenInteractions implements Interactions {
  readonly #api: DiscordApi;
  readonly #data: AccountData;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Presses wait here for their answer, which is due within three seconds. */
  readonly #presses = new Map<string, string>();
  /** Settled when Discord knows that the command has come. */
  readonly #deferring = new Map<string, Promise<void>>();

  constructor(parts: { readonly api: DiscordApi; readonly data: AccountData; readonly clock: Clock; readonly log: Logger }) {
    this.#api = parts.api;
    this.#data = parts.data;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  readonly choices: Choices = { answer: (event, words, signal) => this.#answerPress(event, words, signal) };

  async take(interaction: Interaction, accept: () => Promise<Accepted>, signal: AbortSignal): Promise<void> {
    if (interaction.isCommand) await this.#takeCommand(interaction, accept, signal);
    else await this.#takePress(interaction, accept, signal);
  }

  async awaited(replyTo: string | undefined): Promise<Awaited | undefined> {
    if (replyTo === undefined || !replyTo.startsWith(interactionAnchor)) return undefined;
    const id = replyTo.slice(interactionAnchor.length);
    await this.#deferring.get(id);
    const stored = record(JSON.parse((await this.#data.get(prefix + id)) ?? 'null'));
    const token = text(stored?.['token']);
    const applicationId = snowflake(stored?.['applicationId']);
    if (token === undefined || applicationId === undefined || this.#clock.now() - (integer(stored?.['atMs']) ?? 0) > lifeMs) return undefined;
    return { token, applicationId };
  }

  async settle(replyTo: string): Promise<void> {
    await this.#data.remove(prefix + replyTo.slice(interactionAnchor.length));
  }

  async forgetOld(): Promise<void> {
    for (const { key, value } of await this.#data.list(prefix)) {
      if (this.#clock.now() - (integer(record(JSON.parse(value))?.['atMs']) ?? 0) > lifeMs) await this.#data.remove(key);
    }
  }

  async #takeCommand(interaction: Interaction, accept: () => Promise<Accepted>, signal: AbortSignal): Promise<void> {
    const { id, token, applicationId } = interaction;
    const key = prefix + id;
    const deferred = Promise.withResolvers<void>();
    const done = new AbortController();
    this.#deferring.set(id, deferred.promise);
    try {
      const wasKept = (await this.#data.get(key)) !== undefined;
      await this.#data.set(key, JSON.stringify({ token, applicationId, atMs: this.#clock.now() }));
      const early = this.#deferSlowly(interaction, AbortSignal.any([signal, done.signal]), signal);
      const accepted = await accept().finally(() => done.abort());
      const isDeferred = await early;
      if (accepted === 'skipped') await this.#turnAway(interaction, isDeferred, signal);
      // One that comes again and is not kept any more has its answer.
      else if (accepted === 'duplicate' && !wasKept) await this.#data.remove(key);
      else if (!isDeferred) await this.#respond(interaction, { type: answers.deferredMessage }, signal);
    } finally {
      deferred.resolve();
      this.#deferring.delete(id);
    }
  }

  /**
   * Discord takes a first answer for three seconds only. It says nothing about the event being safe, which the session's position does: when
   * it could not be stored it comes again all the same. Answers whether it was needed.
   */
  async #deferSlowly(interaction: Interaction, waiting: AbortSignal, signal: AbortSignal): Promise<boolean> {
    if (!(await slept(this.#clock, patienceMs, waiting))) return false;
    await this.#respond(interaction, { type: answers.deferredMessage }, signal);
    return true;
  }

  async #turnAway(interaction: Interaction, isDeferred: boolean, signal: AbortSignal): Promise<void> {
    const { id, token, applicationId: application } = interaction;
    await this.#data.remove(prefix + id);
    if (!isDeferred) return this.#respond(interaction, { type: answers.message, data: { content: notAllowed, flags: messageFlags.ephemeral } }, signal);
    await this.#quietly(id, () => this.#api.call({ method: 'DELETE', route: '/webhooks/{application}/{token}/messages/@original', ids: { application, token }, anonymous: true }, signal));
  }

  async #takePress(interaction: Interaction, accept: () => Promise<Accepted>, signal: AbortSignal): Promise<void> {
    const oldest = this.#presses.size >= mostOpen ? this.#presses.keys().next().value : undefined;
    if (oldest !== undefined) this.#presses.delete(oldest);
    this.#presses.set(interaction.id, interaction.token);
    if ((await accept()) === 'stored') return;
    this.#presses.delete(interaction.id);
    await this.#respond(interaction, { type: answers.deferredUpdate }, signal);
  }

  async #answerPress(event: InboundEvent, words: string | undefined, signal: AbortSignal): Promise<void> {
    const token = this.#presses.get(event.nativeId);
    if (token === undefined) throw new PlatformError('not_found', 'the press is not waited for any more', { missing: 'message' });
    this.#presses.delete(event.nativeId);
    const shown = words === undefined ? { type: answers.deferredUpdate } : { type: answers.message, data: { content: words.slice(0, longestAnswer).toWellFormed(), flags: messageFlags.ephemeral, allowed_mentions: { parse: [] } } };
    await this.#callBack({ id: event.nativeId, token }, shown, signal);
  }

  #respond(interaction: Interaction, answer: object, signal: AbortSignal): Promise<void> {
    return this.#quietly(interaction.id, () => this.#callBack(interaction, answer, signal));
  }

  /** That Discord could not be told in time is no reason to lose the connection. */
  async #quietly(id: string, tell: () => Promise<unknown>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      this.#log.info({ interaction: id, reason: error.message }, 'discord.interaction.not_answered');
    }
  }

  async #callBack({ id, token }: Pick<Interaction, 'id' | 'token'>, answer: object, signal: AbortSignal): Promise<void> {
    await this.#api.call({ method: 'POST', route: '/interactions/{interaction}/{token}/callback', ids: { interaction: id, token }, body: answer, anonymous: true }, signal);
  }
}

export const newInteractions = (parts: { readonly api: DiscordApi; readonly data: AccountData; readonly clock: Clock; readonly log: Logger }): Interactions => new OpenInteractions(parts);
