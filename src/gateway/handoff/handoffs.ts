import { newId } from '../../core/ids.ts';
import { parseSessionKey } from '../../core/session-key.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import { slept } from '../../lib/clock.ts';
import { eventOutcome } from '../../store/messages/outcome.ts';
import { claimHandoff, completeHandoff, extendHandoff, failAbandonedHandoffs, failHandoff, listPendingHandoffs } from '../../store/sessions/handoffs.ts';
import type { PendingHandoff } from '../../store/sessions/handoffs.ts';
import { placeOfTarget } from '../hooks/contexts.ts';
import { tellSessionChanges } from '../hooks/session-changes.ts';
import { HandoffRefused } from './destination.ts';
import { leaveFormerPlaces, moveConversation, undoMove } from './move.ts';
import type { Claim, MoveDeps, Moved } from './move.ts';

export interface HandoffsDeps extends MoveDeps {
  readonly owner: string;
  readonly hooks: Pick<Hooks, 'emit'>;
}

const leaseMs = 60_000;
const extendEveryMs = 15_000;
/** A notification that was missed costs at most this. */
const lookEveryMs = 5_000;
/** Only while a conversation moves. */
const settlingMs = 150;

/** Carries out what `/handoff` asks for. Several conversations move side by side; each is moved by one gateway. */
export class Handoffs {
  readonly #deps: HandoffsDeps;
  readonly #stop = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  #changed = new AbortController();
  #watching: Promise<void> | undefined;

  constructor(deps: HandoffsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#watching = this.#watch();
  }

  /** What is under way stays claimed and is failed, with its reason, by whoever starts next. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
    await Promise.all(this.#running.values());
  }

  async #watch(): Promise<void> {
    const { store, log, clock } = this.#deps;
    let sweptMs = Number.NEGATIVE_INFINITY;
    using _wake = store.listen('handoff', () => this.#changed.abort());
    while (!this.#stop.signal.aborted) {
      try {
        await this.#look();
        if (clock.now() - sweptMs >= leaseMs) {
          sweptMs = clock.now();
          await store.write(failAbandonedHandoffs);
        }
      } catch (error) {
        log.error({ err: error }, 'handoff.not_looked');
      }
      await slept(clock, lookEveryMs, AbortSignal.any([this.#stop.signal, this.#changed.signal]));
      this.#changed = new AbortController();
    }
  }

  async #look(): Promise<void> {
    const { store, owner } = this.#deps;
    const pending = await store.read(listPendingHandoffs);
    for (const handoff of pending) {
      const mine = await store.write((tx) => claimHandoff(tx, handoff.sessionId, { owner, leaseMs }));
      if (!mine) continue;
      const work = this.#carryOut(handoff).finally(() => this.#running.delete(handoff.sessionId));
      this.#running.set(handoff.sessionId, work);
    }
  }

  async #carryOut(handoff: PendingHandoff): Promise<void> {
    const { store, log, clock, owner } = this.#deps;
    const claim: Claim = { owner, leaseMs };
    let moved: Moved | undefined;
    try {
      moved = await moveConversation(this.#deps, handoff, claim);
      const failure = await this.#untilSaid(moved, claim);
      if (failure === 'unfinished') return;
      if (failure !== undefined) throw new HandoffRefused(failure);
      const done = moved;
      await store.write(async (tx) => {
        await leaveFormerPlaces(tx, this.#deps, done);
        await completeHandoff(tx, handoff.sessionId);
      });
      this.#tellEnded(moved);
      log.info({ session: handoff.sessionId, account: moved.target.account, chat: moved.target.chatId, thread: moved.target.threadId }, 'handoff.completed');
    } catch (error) {
      const errorId = newId('err', clock.now());
      const reason = error instanceof HandoffRefused ? error.message : `something went wrong on the gateway's side (${errorId})`;
      log.warn({ err: error, session: handoff.sessionId, destination: handoff.destination, error_id: errorId }, 'handoff.failed');
      await this.#fail(handoff.sessionId, reason, moved);
    }
  }

  /** What stood at the new place before has ended for good now. */
  #tellEnded({ before, sessionKey }: Moved): void {
    const agent = sessionKey === undefined ? undefined : parseSessionKey(sessionKey)?.agent;
    if (before === undefined || sessionKey === undefined || agent === undefined) return;
    tellSessionChanges(this.#deps.hooks, { ...placeOfTarget(before.target, { agent, userId: null }), session_key: sessionKey }, [{ type: 'end', sessionId: before.sessionId, reason: 'switched' }]);
  }

  async #fail(sessionId: string, reason: string, moved: Moved | undefined): Promise<void> {
    try {
      await this.#deps.store.write(async (tx) => {
        if (moved !== undefined) await undoMove(tx, moved);
        await failHandoff(tx, sessionId, reason);
      });
    } catch (error) {
      // Its lease runs out, and then it is failed all the same.
      this.#deps.log.error({ err: error, session: sessionId }, 'handoff.not_failed');
    }
  }

  /** Waits until the agent has spoken at the new place. Answers why it could not, if so. */
  async #untilSaid(moved: Moved, claim: Claim): Promise<string | undefined> {
    const { store, clock } = this.#deps;
    const { signal } = this.#stop;
    const notice = { account: moved.target.account, chatId: moved.target.chatId, nativeId: moved.noticeId, kind: 'notice' as const };
    let extendedMs = clock.now();
    while (!signal.aborted) {
      const outcome = await store.read((db) => eventOutcome(db, notice));
      if (outcome === undefined) return 'the gateway could not begin the conversation there';
      const ended = outcome.state === 'done' || outcome.state === 'set_aside' || outcome.state === 'cut_off';
      if (ended && outcome.failure !== null) return outcome.failure;
      if (ended && outcome.open === 0) return outcome.state === 'done' ? undefined : `the first turn there was ${outcome.state === 'set_aside' ? 'set aside' : 'cut off'}`;
      if (clock.now() - extendedMs >= extendEveryMs) {
        await store.write((tx) => extendHandoff(tx, moved.sessionId, claim));
        extendedMs = clock.now();
      }
      await slept(clock, settlingMs, signal);
    }
    return 'unfinished';
  }
}
