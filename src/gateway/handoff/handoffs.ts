import { StoreError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { parseSessionKey } from '../../core/session-key.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import { slept } from '../../lib/clock.ts';
import { persist } from '../../store/persist.ts';
import { eventOutcome } from '../../store/messages/outcome.ts';
import { claimHandoff, completeHandoff, extendHandoff, failAbandonedHandoffs, failHandoff, listAbandonedMoves, listPendingHandoffs, takeOverHandoff } from '../../store/sessions/handoffs.ts';
import type { PendingHandoff } from '../../store/sessions/handoffs.ts';
import { placeOfTarget } from '../hooks/contexts.ts';
import { tellSessionChanges } from '../hooks/session-changes.ts';
import { accountOfDestination, HandoffRefused } from './destination.ts';
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
/** So long a handoff to an account that is not connected here is left to gateways that share the database; then it is refused with that reason. */
const othersFirstMs = 10_000;

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

  /** What is under way stays claimed. Whoever starts next goes on with it where the conversation has moved already, and fails it otherwise. */
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
          await this.#takeOver();
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
    for (const handoff of pending.filter((each) => this.#isOurs(each))) {
      const mine = await store.write((tx) => claimHandoff(tx, handoff.sessionId, { owner, leaseMs }));
      if (mine) this.#begin(handoff.sessionId, this.#carryOut(handoff));
    }
  }

  /** Gateways that share a database may have different accounts. */
  #isOurs({ destination, waitedMs }: PendingHandoff): boolean {
    const account = accountOfDestination(this.#deps, destination);
    return this.#deps.store.engine === 'sqlite' || waitedMs >= othersFirstMs || account === undefined || this.#deps.adapter(account) !== undefined;
  }

  /** The gateway that moved a conversation has gone: the agent reports there all the same, and what comes after that is done here. */
  async #takeOver(): Promise<void> {
    const { store, owner } = this.#deps;
    for (const { handoff, moved } of await store.read((db) => listAbandonedMoves<Moved>(db))) {
      if (this.#running.has(handoff.sessionId)) continue;
      const mine = await store.write((tx) => takeOverHandoff(tx, handoff.sessionId, { owner, leaseMs }));
      if (mine) this.#begin(handoff.sessionId, this.#carryOut(handoff, moved));
    }
  }

  #begin(sessionId: string, work: Promise<void>): void {
    this.#running.set(sessionId, work.finally(() => this.#running.delete(sessionId)));
  }

  async #carryOut(handoff: PendingHandoff, before?: Moved): Promise<void> {
    const { log, clock, owner } = this.#deps;
    const claim: Claim = { owner, leaseMs };
    let moved = before;
    try {
      moved ??= await moveConversation(this.#deps, handoff, claim);
      const failure = await this.#untilSaid(moved, claim);
      if (failure === 'unfinished') return;
      if (failure !== undefined) throw new HandoffRefused(failure);
      await this.#complete(moved);
    } catch (error) {
      // What another gateway has taken over is its.
      if (error instanceof StoreError && error.code === 'lane_lost') return log.warn({ session: handoff.sessionId }, 'handoff.lost');
      const errorId = newId('err', clock.now());
      const reason = error instanceof HandoffRefused ? error.message : `something went wrong on the gateway's side (${errorId})`;
      log.warn({ err: error, session: handoff.sessionId, destination: handoff.destination, error_id: errorId }, 'handoff.failed');
      await this.#fail(handoff.sessionId, reason, moved);
    }
  }

  async #complete(moved: Moved): Promise<void> {
    const { store, log, clock } = this.#deps;
    const { sessionId, target } = moved;
    const complete = (): Promise<boolean> =>
      store.write(async (tx) => {
        const isNew = await completeHandoff(tx, sessionId);
        if (isNew) await leaveFormerPlaces(tx, this.#deps, moved);
        return isNew;
      });
    if (!(await persist(complete, { clock, log, signal: this.#stop.signal }))) return;
    this.#tellEnded(moved);
    log.info({ session: sessionId, account: target.account, chat: target.chatId, thread: target.threadId }, 'handoff.completed');
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
    const { store, clock, log } = this.#deps;
    const { signal } = this.#stop;
    // Whoever waits for the agent to speak also waits for a store that is in trouble meanwhile.
    const patiently = <T>(work: () => Promise<T>): Promise<T> => persist(work, { clock, log, signal });
    const notice = { account: moved.target.account, chatId: moved.target.chatId, nativeId: moved.noticeId, kind: 'notice' as const };
    let extendedMs = clock.now();
    while (!signal.aborted) {
      const outcome = await patiently(() => store.read((db) => eventOutcome(db, notice)));
      if (outcome === undefined) return 'the gateway could not begin the conversation there';
      const ended = outcome.state === 'done' || outcome.state === 'set_aside' || outcome.state === 'cut_off';
      if (ended && outcome.failure !== null) return outcome.failure;
      if (ended && outcome.open === 0) return outcome.state === 'done' ? undefined : `the first turn there was ${outcome.state === 'set_aside' ? 'set aside' : 'cut off'}`;
      if (clock.now() - extendedMs >= extendEveryMs) {
        await patiently(() => store.write((tx) => extendHandoff(tx, moved.sessionId, claim)));
        extendedMs = clock.now();
      }
      await slept(clock, settlingMs, signal);
    }
    return 'unfinished';
  }
}
