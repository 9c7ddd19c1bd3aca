import type { TurnAbort, TurnInput } from '../../agent/contract.ts';
import type { JobRules } from '../../cron/job-request.ts';
import type { ReasoningEffort } from '../../core/reasoning-effort.ts';
import type { Attachment, TranscriptMessage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { newFetchImage } from '../../delivery/fetch-image.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { agentIds, routedAgent } from '../../routing/select-agent.ts';
import type { AuditedAct } from '../../lib/audit-log.ts';
import { findApiCall, hideApiCall } from '../../store/api/api-calls.ts';
import type { ApiCall } from '../../store/api/api-calls.ts';
import type { Store } from '../../store/store.ts';
import type { Agents } from '../agents/agents.ts';
import type { SingleTurns } from '../agents/single-turns.ts';
import type { GatewaySettings } from '../settings.ts';
import { admitCall } from './admit-call.ts';
import type { AdmittedCall, ArrivedCall } from './admit-call.ts';
import { newApiJobs } from './api-jobs.ts';
import type { ApiJobs } from './api-jobs.ts';
import { newApiRuns } from './api-runs.ts';
import type { ApiRuns } from './api-runs.ts';
import { newApiSessions } from './api-sessions.ts';
import type { ApiSessions } from './api-sessions.ts';
import { askOnce } from './ask-once.ts';
import type { CallHub } from './call-hub.ts';
import { cancelCall } from './cancel-call.ts';
import { followCall } from './follow-call.ts';
import { apiAccount } from './place.ts';
import type { ApiPlace } from './place.ts';
import { saveImage } from './save-image.ts';
import { submitCall } from './submit-call.ts';
import type { Submitted, SubmittedCall } from './submit-call.ts';

export interface ApiGateDeps {
  readonly agents: Agents;
  readonly clock: Clock;
  readonly mediaFolder: string;
  readonly store: Store;
  readonly hub: CallHub;
  readonly hooks: Hooks;
  readonly log: Logger;
  readonly singles: SingleTurns;
  /** What a job may be here. */
  readonly jobs: JobRules;
  /** Writes down what keys have changed. */
  audit(act: AuditedAct): void;
  settings(): GatewaySettings;
}

/** What a client wants of one answer. */
export interface CallWishes {
  /** What it tells the agent on top of its own instructions. */
  readonly instructions?: string;
  readonly clientTools?: TurnInput['clientTools'];
  readonly toolChoice?: TurnInput['toolChoice'];
  readonly reasoningEffort?: ReasoningEffort;
}

/** What is kept of a call until it is answered, and longer. */
export interface KeptRequest<Wire> {
  readonly wishes: CallWishes;
  /** What the door wants to know again. */
  readonly wire: Wire;
}

/** A question that brings all it needs: the conversation is the client's. */
export interface WholeQuestion extends CallWishes {
  readonly agent: string;
  /** The key that asks. */
  readonly callerId: string;
  readonly place: ApiPlace;
  /** Under which tools know it: the same for calls that belong together. */
  readonly sessionId: string;
  readonly turnId: string;
  readonly transcript: readonly TranscriptMessage[];
}

/** The gateway as the API sees it. */
export class ApiGate {
  readonly #deps: ApiGateDeps;
  readonly runs: ApiRuns;
  readonly sessions: ApiSessions;
  readonly jobs: ApiJobs;
  readonly #running = new Set<AbortController>();
  readonly #idle: (() => void)[] = [];
  #closing = false;

  constructor(deps: ApiGateDeps) {
    this.#deps = deps;
    this.runs = newApiRuns(deps);
    this.sessions = newApiSessions(deps);
    this.jobs = newApiJobs(deps);
  }

  /** Ids of the agents that can be asked. */
  agents(): readonly string[] {
    return agentIds(this.#deps.settings());
  }

  /** Who answers in a conversation in which nothing was said yet. */
  agentAt(callerId: string): string {
    const chat = { id: callerId, type: 'dm' } as const;
    return routedAgent(this.#deps.settings(), { account: apiAccount, chat, sender: { id: callerId, isBot: false } }).id;
  }

  /** Who answers a call, and what of it. */
  admit(call: ArrivedCall): Promise<AdmittedCall> {
    return admitCall(this.#deps, call);
  }

  /** It takes nothing new any more. */
  get isClosing(): boolean {
    return this.#closing;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Undefined when there is no picture at the address. */
  saveImage(image: { readonly sessionId: string; readonly url: string }, signal: AbortSignal): Promise<Attachment | undefined> {
    const { mediaFolder, clock } = this.#deps;
    return saveImage({ mediaFolder, fetchImage: newFetchImage(() => this.#deps.settings().web, { clock }) }, image, signal);
  }

  /**
   * Answers a question of which nothing is kept: should the process end, so has the call, and its client asks again. Ends with exactly one `end` event; after an abort within
   * 100 ms.
   */
  async *ask(question: WholeQuestion, signal: AbortSignal): AsyncGenerator<TurnEvent, void, undefined> {
    const turn = new AbortController();
    const stop = (): void => turn.abort({ kind: 'stopped' } satisfies TurnAbort);
    if (signal.aborted || this.#closing) stop();
    signal.addEventListener('abort', stop, { once: true });
    this.#running.add(turn);
    try {
      yield* askOnce(this.#deps, question, turn.signal);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#running.delete(turn);
      if (this.#running.size === 0) for (const wake of this.#idle.splice(0)) wake();
    }
  }

  /** Has a call answered by a turn of its conversation. What follows it sees the events; who stops following does not end the turn. */
  async submit<Wire>(call: Omit<SubmittedCall, 'nowMs' | 'request'> & { readonly request: KeptRequest<Wire> }): Promise<Submitted & { readonly events: AsyncGenerator<TurnEvent, void, undefined> }> {
    const { store, hub, clock } = this.#deps;
    // Before the call is stored: its turn may begin at once.
    const feed = hub.follow(call.id);
    try {
      const submitted = await submitCall((work) => store.write(work), { ...call, nowMs: clock.now() });
      if (submitted.type === 'refused') feed[Symbol.dispose]();
      return { ...submitted, events: followCall({ store, clock }, { id: call.id, mayHaveEnded: false }, feed) };
    } catch (error) {
      feed[Symbol.dispose]();
      throw error;
    }
  }

  /** One of a key's own calls. */
  find<Wire>(of: { readonly id: string; readonly keyId: string; readonly kind: string }): Promise<ApiCall<KeptRequest<Wire>> | undefined> {
    return this.#deps.store.read((db) => findApiCall(db, of));
  }

  /** The events of a call that was submitted before, until the signal comes. Nothing is kept for whoever does not begin to read. */
  async *follow(id: string, signal?: AbortSignal): AsyncGenerator<TurnEvent, void, undefined> {
    const { store, hub, clock } = this.#deps;
    yield* followCall({ store, clock }, { id, mayHaveEnded: true, signal }, hub.follow(id));
  }

  async cancel(id: string): Promise<void> {
    await this.#deps.store.write((tx) => cancelCall(tx, id));
  }

  /** Nobody finds it any more. */
  async forget(id: string): Promise<void> {
    await this.#deps.store.write((tx) => hideApiCall(tx, id));
  }

  /** Takes nothing new; what runs may end for a while and is then stopped. */
  async stop(graceMs: number): Promise<void> {
    this.#closing = true;
    if (this.#running.size === 0) return;
    const idle = new Promise<void>((resolve) => void this.#idle.push(resolve));
    const timer = setTimeout(() => {
      for (const turn of this.#running) turn.abort({ kind: 'stopped' } satisfies TurnAbort);
    }, graceMs);
    await idle;
    clearTimeout(timer);
  }
}
