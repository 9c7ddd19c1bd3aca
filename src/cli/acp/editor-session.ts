import { join } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import type { AgentContext, ContentBlock, PromptResponse, RequestPermissionResponse, SessionUpdate, StopReason, ToolKind } from '@agentclientprotocol/sdk';
import type { Choice } from '../../core/message.ts';
import { readButton } from '../../delivery/question-message.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { findQuestion, openQuestions } from '../../store/agents/questions.ts';
import { eventOutcome } from '../../store/messages/outcome.ts';
import type { EventOutcome } from '../../store/messages/outcome.ts';
import type { Core } from '../chat/core.ts';
import { Link } from '../chat/link.ts';
import type { LinkOptions, LinkState } from '../chat/link.ts';
import { situationOf } from '../chat/situation.ts';
import type { Situation, Window } from '../chat/situation.ts';
import { permissionRequest } from './permission-request.ts';
import { promptMessage } from './prompt-message.ts';
import { ShownTexts } from './shown-text.ts';

type Frame = Parameters<LinkOptions['onFrame']>[0];
type Entry = Extract<Frame, { type: 'entry' }>['entry'];
type Activity = Extract<Frame, { type: 'activity' }>['activity'];

export interface EditorSessionOptions {
  readonly core: Core;
  readonly window: Window;
  readonly client: AgentContext;
  readonly clock: Clock;
  readonly log: Logger;
  /** Behind which entry of the chat to begin: what comes after it is told. */
  readonly after: number;
  /** Told to the agent with the first words of a new conversation. */
  readonly folder?: string;
}

const lookEveryMs = 250;
/** How long a stopped turn may take to end. */
const stopMs = 3_000;

const kinds: Readonly<Record<string, ToolKind>> = {
  terminal: 'execute', process: 'execute', read_file: 'read', write_file: 'edit', patch: 'edit', search_files: 'search', session_search: 'search', web_search: 'search', web_fetch: 'fetch',
};

const stopReasonOf = ({ turn }: EventOutcome): StopReason => {
  switch (turn?.exitReason) {
    case 'limit':
      return 'max_turn_requests';
    case 'stopped':
    case 'interrupted':
      return 'cancelled';
    default:
      // What went wrong has been said in words.
      return 'end_turn';
  }
};

const isOver = ({ state, open }: EventOutcome): boolean => open === 0 && state !== 'waiting' && state !== 'running';

/** One conversation of an editor: a chat of the terminal's platform, whose other side speaks the Agent Client Protocol. */
export class EditorSession {
  readonly #options: EditorSessionOptions;
  readonly #link: Link;
  readonly #own = new Set<string>();
  readonly #refusals = new Map<string, string>();
  readonly #texts = new ShownTexts();
  /** Messages with buttons, and who waits for one to be pressed. */
  readonly #questions = new Map<string, { readonly choices: readonly Choice[]; readonly settled: AbortController; asked: boolean }>();
  readonly #closing = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #cursor: number;
  #isReady = false;
  #folder: string | undefined;
  #wake = new AbortController();
  #stoppedMs: number | undefined;
  #refused: string | undefined;

  constructor(options: EditorSessionOptions) {
    this.#options = options;
    this.#cursor = options.after;
    this.#folder = options.folder;
    this.#link = new Link({
      chat: options.window.chat,
      clock: options.clock,
      path: () => options.core.path(),
      cursor: () => this.#cursor,
      onFrame: (frame) => this.#take(frame),
      onState: (state) => this.#onState(state),
    });
    this.#running = this.#link.run().catch((error: unknown) => this.#fail('The connection to the gateway broke.', error));
  }

  /** Resolves once everything that was stored has been told, or nothing is told any more. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Says it and waits until it is answered, or until the agent wants to know something in the person's own words. */
  async prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    const { core, window, clock } = this.#options;
    const { text, files } = await promptMessage(blocks, join(core.home, 'media', window.account));
    if (text === '' && files.length === 0) throw RequestError.invalidParams(undefined, 'the prompt has nothing in it that can be used here');
    this.#stoppedMs = undefined;
    const openBefore = await this.#wordQuestions();
    const id = this.#link.say(this.#introduced(text), files);
    this.#own.add(id);
    while (!this.#closing.signal.aborted) {
      this.#wake = new AbortController();
      const stopReason = await this.#stopReason(id, openBefore);
      if (stopReason !== undefined) return { stopReason };
      await slept(clock, lookEveryMs, AbortSignal.any([this.#wake.signal, this.#closing.signal]));
    }
    throw RequestError.internalError(undefined, this.#refused ?? 'the connection was closed');
  }

  cancel(): void {
    this.#stoppedMs = this.#options.clock.now();
    this.#own.add(this.#link.say('/stop'));
  }

  async close(): Promise<void> {
    this.#link.seen(this.#cursor);
    this.#closing.abort();
    this.#ready.resolve();
    this.#link.close();
    await this.#running;
  }

  /** Commands stay as they are; the first other words also say where the editor is. */
  #introduced(text: string): string {
    const folder = this.#folder;
    if (folder === undefined || text.startsWith('/')) return text;
    this.#folder = undefined;
    return `[I am writing from an editor. Its project folder is ${folder}]\n${text}`;
  }

  /** Undefined while the answer is under way. */
  async #stopReason(id: string, openBefore: ReadonlySet<number>): Promise<StopReason | undefined> {
    const { core, window, clock } = this.#options;
    const refusal = this.#refusals.get(id);
    if (refusal !== undefined) throw RequestError.internalError(undefined, refusal);
    const outcome = await core.store.read((db) => eventOutcome(db, { account: window.account, chatId: window.chat, nativeId: id, kind: 'message' }));
    const now = await situationOf(core.store, window);
    const isTold = !now.delivering && this.#cursor >= now.lastEntry;
    const isDone = outcome !== undefined && isOver(outcome);
    if (isDone && isTold && now.workingMs === undefined && now.waiting === 0) {
      await this.#tellUsage(now);
      return this.#stoppedMs === undefined ? stopReasonOf(outcome) : 'cancelled';
    }
    if (this.#stoppedMs !== undefined) return clock.now() - this.#stoppedMs > stopMs ? 'cancelled' : undefined;
    if (!isTold || now.workingMs === undefined) return undefined;
    // What was open before may be what this answers.
    return [...(await this.#wordQuestions())].some((open) => isDone || !openBefore.has(open)) ? 'end_turn' : undefined;
  }

  /** Open questions that only the person's own words can answer. */
  async #wordQuestions(): Promise<ReadonlySet<number>> {
    const { core, window } = this.#options;
    const open = await core.store.read((db) => openQuestions(db, { account: window.account, chatId: window.chat }));
    return new Set(open.filter(({ question }) => question.options.length === 0).map(({ id }) => id));
  }

  async #tellUsage({ session, contextTokens }: Situation): Promise<void> {
    const size = session?.contextFacts?.window;
    if (size !== undefined) await this.#tell({ sessionUpdate: 'usage_update', used: session?.prompt?.tokens ?? contextTokens, size });
  }

  async #tell(update: SessionUpdate): Promise<void> {
    const { client, window, log } = this.#options;
    try {
      await client.notify('session/update', { sessionId: window.chat, update });
    } catch (error) {
      log.debug({ err: error }, 'acp.editor_gone');
    }
  }

  #say(type: 'agent_message_chunk' | 'user_message_chunk', text: string, messageId: string): void {
    if (text !== '') void this.#tell({ sessionUpdate: type, content: { type: 'text', text }, messageId });
  }

  #onState(state: LinkState): void {
    if (state.type === 'connected') this.#options.core.connected();
    if (state.type === 'refused') this.#fail(`The gateway does not take this editor: ${state.reason}.`, undefined);
  }

  #fail(reason: string, error: unknown): void {
    this.#options.log.error({ err: error, reason }, 'acp.session_failed');
    this.#refused = reason;
    this.#closing.abort();
    this.#ready.resolve();
  }

  #take(frame: Frame): void {
    if (frame.type === 'entry') this.#takeEntry(frame.seq, frame.entry);
    if (frame.type === 'live') this.#say('agent_message_chunk', this.#texts.grow(frame.id, frame.at, frame.text), frame.id);
    if (frame.type === 'activity') this.#takeActivity(frame.activity);
    if (frame.type === 'refused' && !frame.again) this.#refusals.set(frame.id, frame.reason);
    if (frame.type === 'ready') {
      this.#isReady = true;
      this.#ready.resolve();
    }
    if (this.#isReady) this.#askOpen();
    if (frame.type !== 'live' && frame.type !== 'typing') this.#wake.abort();
  }

  #takeEntry(seq: number, entry: Entry): void {
    if (seq <= this.#cursor) return;
    this.#cursor = seq;
    switch (entry.type) {
      case 'message':
        if (entry.from === 'owner') {
          if (!this.#own.has(entry.id)) this.#say('user_message_chunk', entry.text, entry.id);
        } else if (entry.growing === true) this.#say('agent_message_chunk', this.#isReady ? this.#texts.grow(entry.id, 0, entry.text) : '', entry.id);
        else this.#settle(entry);
        return;
      case 'edit':
        this.#settle(entry);
        return;
      case 'press':
      case 'remove':
        this.#questions.get(entry.id)?.settled.abort();
        return;
      default:
        entry satisfies never;
    }
  }

  /** A question is asked by the editor; that it was answered needs no words. */
  #settle(entry: Extract<Entry, { type: 'message' | 'edit' }>): void {
    const choices = entry.choices.flat();
    const question = this.#questions.get(entry.id);
    if (question !== undefined) question.settled.abort();
    else if (choices.length > 0) this.#questions.set(entry.id, { choices, settled: new AbortController(), asked: false });
    else this.#say('agent_message_chunk', `${this.#texts.settle(entry.id, entry.text)}${entry.type === 'message' ? entry.files.map(({ name, path }) => `\n[${name}](${path})`).join('') : ''}`, entry.id);
  }

  #takeActivity(activity: Activity): void {
    switch (activity.type) {
      case 'tool_started':
        void this.#tell({ sessionUpdate: 'tool_call', toolCallId: activity.callId, title: `${activity.name} ${activity.preview}`.trim(), name: activity.name, kind: kinds[activity.name] ?? 'other', status: 'in_progress' });
        return;
      case 'tool_finished':
        void this.#tell({ sessionUpdate: 'tool_call_update', toolCallId: activity.callId, status: activity.ok ? 'completed' : 'failed' });
        return;
      case 'retrying':
      case 'end':
        return;
      default:
        activity satisfies never;
    }
  }

  #askOpen(): void {
    for (const [messageId, question] of this.#questions) {
      if (question.asked || question.settled.signal.aborted) continue;
      question.asked = true;
      this.#ask(messageId, question.choices, question.settled.signal).catch((error: unknown) => {
        if (!question.settled.signal.aborted && !this.#closing.signal.aborted) this.#options.log.warn({ err: error }, 'acp.question_failed');
      });
    }
  }

  async #ask(messageId: string, choices: readonly Choice[], settled: AbortSignal): Promise<void> {
    const { core, window, client } = this.#options;
    const button = readButton(choices[0]?.data ?? '');
    const found = button === undefined ? undefined : await core.store.read((db) => findQuestion(db, { account: window.account, chatId: window.chat, id: button.id }));
    if (found === undefined || found.state !== 'open') return;
    const request = permissionRequest(window.chat, found, choices);
    const { toolCallId, title, content } = request.toolCall;
    await this.#tell({ sessionUpdate: 'tool_call', toolCallId, title: title ?? '', kind: 'other', status: 'pending', content: content ?? [] });
    const { outcome }: RequestPermissionResponse = await client.request('session/request_permission', request, { cancellationSignal: settled, stopWaitingOnCancel: true });
    if (outcome.outcome === 'selected') this.#own.add(this.#link.press(messageId, outcome.optionId));
    const isRefused = outcome.outcome !== 'selected' || request.options.find(({ optionId }) => optionId === outcome.optionId)?.kind === 'reject_once';
    await this.#tell({ sessionUpdate: 'tool_call_update', toolCallId, status: isRefused ? 'failed' : 'completed' });
  }
}
