import { parseCommand } from '../../commands/parse.ts';
import { ConfigError, StoreError } from '../../core/errors.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { maxInboundLength } from '../../platforms/local/client.ts';
import type { LocalEntry, ServerFrame } from '../../platforms/local/client.ts';
import { newConversation, receive } from './conversation.ts';
import type { Conversation, Printed } from './conversation.ts';
import type { Core } from './core.ts';
import { leaveUnanswered } from './leave-unanswered.ts';
import { Link } from './link.ts';
import type { LinkState } from './link.ts';
import { getHandoffState } from '../../store/sessions/handoffs.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import { recapOf } from './recap.ts';
import type { Recap } from './recap.ts';
import { situationOf } from './situation.ts';
import type { Situation, Window } from './situation.ts';

/** Who shows a conversation: a screen, or plain lines. */
export interface Front {
  print(item: Printed): void;
  /** What is shown of the present has changed. */
  changed(): void;
}

export interface SessionOptions {
  readonly core: Core;
  readonly window: Window;
  readonly clock: Clock;
  readonly front: Front;
  /** What the conversation was about, if it is an old one. */
  readonly recap?: Recap | undefined;
}

const tickMs = 1_000;
const idleTicks = 10;
const longAwayMs = 1_000;

/** A conversation as it is seen at one terminal, from opening it to leaving it. */
export class ChatSession {
  readonly #options: SessionOptions;
  readonly #link: Link;
  readonly #own = new Set<string>();
  readonly #refusals = new Map<string, string>();
  readonly #answers = new Map<string, string>();
  readonly #closing = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  /** A look at the store that nobody waited for went wrong in a way that is not the store's. */
  readonly #broken = Promise.withResolvers<never>();
  readonly #left = Promise.withResolvers<void>();
  #conversation: Conversation = newConversation;
  #situation: Situation | undefined;
  #situationAtMs = 0;
  #linkState: LinkState = { type: 'connecting' };
  #awaySinceMs = 0;
  #refreshing: Promise<void> | undefined;
  #refreshAgain = false;
  #toldAway = false;
  #isWelcomed = false;
  #isReplayed = false;
  #recapAfter: string | undefined;
  /** The conversation that somebody here wants to go on with elsewhere. */
  #handedOver: Session | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#awaySinceMs = options.clock.now();
    this.#link = new Link({
      chat: options.window.chat,
      clock: options.clock,
      path: () => options.core.path(),
      cursor: () => this.#conversation.cursor,
      onFrame: (frame) => this.#take(frame),
      onState: (state) => this.#onState(state),
    });
  }

  /** Resolves when the session was closed; rejects when it cannot go on. */
  async run(): Promise<void> {
    const ticking = this.#tick().catch((error: unknown) => this.#broken.reject(error));
    await Promise.race([this.#link.run(), this.#broken.promise]);
    if (this.#linkState.type === 'refused') throw new ConfigError(`The gateway does not take this terminal: ${this.#linkState.reason}.`);
    await ticking;
  }

  /** Resolves once everything that was stored before has been shown. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  get situation(): Situation | undefined {
    return this.#situation;
  }

  get unsent(): number {
    return this.#link.unsent;
  }

  /** How long the agent has been at work; undefined when it is idle. */
  get workingMs(): number | undefined {
    const workingMs = this.#situation?.workingMs;
    return workingMs === undefined ? undefined : workingMs + this.#options.clock.now() - this.#situationAtMs;
  }

  /** Resolves when the conversation has moved to another place. */
  get left(): Promise<void> {
    return this.#left.promise;
  }

  /** Why nothing can be sent right now; undefined when it can, or when it is too early to say. */
  get away(): string | undefined {
    if (this.#linkState.type === 'connected' || this.#options.clock.now() - this.#awaySinceMs < longAwayMs) return undefined;
    return this.#linkState.type === 'connecting' ? 'waiting for the gateway' : 'the gateway is away';
  }

  /** Says it, or keeps it until the gateway is there. */
  say(text: string, options: { readonly silent?: boolean } = {}): string {
    const id = this.#link.say(text.slice(0, maxInboundLength));
    if (text.length > maxInboundLength) this.#options.front.print({ type: 'notice', text: `Only the first ${maxInboundLength} characters were sent; a message cannot be longer.` });
    this.#own.add(id);
    if (options.silent !== true) this.#options.front.print({ type: 'said', text });
    const command = parseCommand(text)?.name;
    if (command === 'resume') this.#recapAfter = this.#situation?.session?.id ?? '';
    if (command === 'handoff') this.#handedOver = this.#situation?.session;
    this.#options.front.changed();
    return id;
  }

  /** Why the gateway did not take what was said; undefined while it may still do so. */
  refusal(id: string): string | undefined {
    return this.#refusals.get(id);
  }

  /** What came back as an answer to something said here: what a command answered, or the beginning of a turn's answer. */
  answerTo(id: string): string | undefined {
    return this.#answers.get(id);
  }

  /** Answers the open question with the choice of this number; false when there is no such choice. */
  choose(number: number): boolean {
    const { question } = this.#conversation;
    const choice = question?.choices[number - 1];
    if (question === undefined || choice === undefined) return false;
    this.#link.press(question.messageId, choice.data);
    this.#conversation = { ...this.#conversation, question: undefined };
    this.#options.front.print({ type: 'said', text: choice.label });
    return true;
  }

  /** Resolves when everything that was said is shown and it is somebody's turn here to speak: nothing is being answered, or what answers has `asked` something. */
  async settled(): Promise<'idle' | 'asked'> {
    do {
      await this.#refresh();
      const now = this.#situation;
      if (now === undefined || this.unsent > 0 || now.commanding || now.delivering || (this.#conversation.cursor ?? 0) < now.lastEntry) continue;
      if (now.asking) return 'asked';
      if (now.workingMs === undefined && now.waiting === 0) return 'idle';
    } while (await slept(this.#options.clock, tickMs / 10, this.#closing.signal));
    return 'idle';
  }

  /** Nobody will answer what was asked here: the turn goes on without. */
  async leaveUnanswered(): Promise<void> {
    const { core, window, front } = this.#options;
    const left = await leaveUnanswered(core.store, window);
    if (left.length > 0) front.print({ type: 'notice', text: 'The input has ended, and nobody is left to answer. It goes on without.' });
  }

  /** `seen`: whatever stands in the chat needs not be shown again. */
  async close(options: { readonly seen?: boolean } = {}): Promise<void> {
    if (options.seen === true) this.#link.seen();
    this.#closing.abort();
    this.#link.close();
    await this.#refreshing;
  }

  #onState(state: LinkState): void {
    const { front, clock } = this.#options;
    if (state.type === 'away' && this.#linkState.type === 'connected') this.#awaySinceMs = clock.now();
    if (state.type === 'connected' && this.#toldAway) front.print({ type: 'notice', text: 'The gateway is back.' });
    if (state.type === 'connected') {
      this.#toldAway = false;
      this.#options.core.connected();
    }
    this.#linkState = state;
    front.changed();
  }

  #take(frame: ServerFrame): void {
    const { clock, front } = this.#options;
    const step = receive(this.#conversation, frame, { nowMs: clock.now(), isOwn: (id) => this.#own.has(id) });
    this.#conversation = step.conversation;
    for (const item of step.print) front.print(item);
    if (frame.type === 'entry') this.#keepAnswer(frame.entry);
    if (frame.type === 'ready' || (frame.type === 'entry' && this.#isReplayed)) this.#link.seen(step.conversation.cursor);
    if (frame.type === 'welcome' || frame.type === 'ready') this.#isReplayed = frame.type === 'ready';
    if (frame.type === 'refused' && !frame.again) this.#refusals.set(frame.id, frame.reason);
    if (frame.type === 'refused') front.print({ type: 'notice', text: frame.again ? `${frame.reason} It will be tried again.` : frame.reason });
    if (frame.type === 'welcome') this.#welcome(frame);
    if (frame.type === 'ready') this.#ready.resolve();
    // Words and typing are signs of a turn; once it is known to run, its end is a frame of another kind.
    const isSign = frame.type === 'live' || frame.type === 'typing' || frame.type === 'notice';
    if (!isSign || this.#situation?.workingMs === undefined) this.#refresh().catch((error: unknown) => this.#broken.reject(error));
    front.changed();
  }

  #keepAnswer(entry: LocalEntry): void {
    if (entry.type === 'message' && entry.from === 'agent' && entry.replyTo !== undefined && this.#own.has(entry.replyTo)) this.#answers.set(entry.replyTo, entry.text);
  }

  /** An answer that is told next need not be told by the recap. */
  #welcome({ unseen, unseenChats }: Extract<ServerFrame, { type: 'welcome' }>): void {
    const { front, recap } = this.#options;
    if (recap !== undefined && !this.#isWelcomed) front.print(unseen > 0 ? { ...recap, answer: '' } : recap);
    this.#isWelcomed = true;
    if (unseenChats > 0) front.print({ type: 'notice', text: `${unseenChats === 1 ? 'Another conversation has' : `${unseenChats} other conversations have`} an answer that nobody has seen. hermes -c opens the last one.` });
  }

  /** One look at the store at a time; whoever asks meanwhile gets one more. */
  #refresh(): Promise<void> {
    this.#refreshAgain = true;
    this.#refreshing ??= this.#look().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #look(): Promise<void> {
    const { core, window, clock, front } = this.#options;
    while (this.#refreshAgain && !this.#closing.signal.aborted) {
      this.#refreshAgain = false;
      try {
        this.#situation = await situationOf(core.store, window);
        this.#situationAtMs = clock.now();
        await this.#recap();
        await this.#leaveHandedOver();
      } catch (error) {
        // The next look may succeed; until then the last one stands.
        if (!(error instanceof StoreError)) throw error;
      }
      front.changed();
    }
  }

  /** After /resume the conversation is another one, and says what it was about. */
  async #recap(): Promise<void> {
    const session = this.#situation?.session;
    if (this.#recapAfter === undefined || session === undefined || session.id === this.#recapAfter || session.messageCount === 0) return;
    this.#recapAfter = undefined;
    this.#options.front.print(await recapOf(this.#options.core.store, session, this.#options.clock.now()));
  }

  /** A conversation that has moved leaves nothing to do here. */
  async #leaveHandedOver(): Promise<void> {
    const session = this.#handedOver;
    if (session === undefined || (this.#situation?.session?.id === session.id && this.#situation.session.account === session.account)) return;
    const state = await this.#options.core.store.read((db) => getHandoffState(db, session.id));
    if (state?.state !== 'completed') return;
    this.#handedOver = undefined;
    this.#options.front.print({ type: 'notice', text: `↗ Handed over to ${state.platform ?? 'another place'}. /resume ${session.title ?? session.id} brings it back.` });
    this.#left.resolve();
  }

  async #tick(): Promise<void> {
    const { clock, front } = this.#options;
    for (let ticks = 1; await slept(clock, tickMs, this.#closing.signal); ticks += 1) {
      if (this.away !== undefined && !this.#toldAway && this.#linkState.type === 'away') {
        this.#toldAway = true;
        front.print({ type: 'notice', text: 'The gateway went away. What you write is kept and sent when it is back.' });
      }
      if (this.workingMs !== undefined || this.unsent > 0 || ticks % idleTicks === 0) await this.#refresh();
      front.changed();
    }
  }
}
