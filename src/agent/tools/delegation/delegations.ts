import { addUsage, noUsage } from '../../../core/transcript.ts';
import type { Usage } from '../../../core/transcript.ts';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { abandonedDelegations, addSpent, endDelegation, forgetDelegations, keepDelegation, runningDelegations, stopName, stoppedDelegations } from '../../../store/agents/delegations.ts';
import { everything, grantPatterns, revokeGrants } from '../../../store/agents/grants.ts';
import { persist } from '../../../store/persist.ts';
import type { Store, Writing } from '../../../store/store.ts';
import type { TurnPlace } from '../../contract.ts';
import { outsideSession } from '../../session-context.ts';
import type { ChildOutcome, ChildRequest, ChildRunner, ChildTask } from './contract.ts';
import { Helpers } from './helpers.ts';
import type { HelperView } from './helpers.ts';
import { endNotice, lostNotice } from './notices.ts';
import type { DelegationOptions } from './options.ts';
import { runChild } from './run-child.ts';

/** Starts a turn in the conversation, once, in the transaction that knows why. */
export type Announce = (tx: Writing, notice: { readonly sessionId: string; readonly key: string; readonly text: string; readonly nowMs: number }) => Promise<unknown>;

export interface DelegationsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** This gateway's node. */
  readonly owner: string;
  readonly announce: Announce;
  settings(): DelegationOptions;
  redact(text: string): string;
  /** A helper has ended: what it left running ends too. */
  readonly release?: (childId: string) => Promise<unknown>;
}

/** Work that a conversation hands to helpers. */
export interface Job {
  readonly id: string;
  readonly sessionId: string;
  readonly place: TurnPlace;
  readonly tasks: readonly ChildTask[];
  readonly run: ChildRunner;
}

/** What goes on while helpers work. */
export interface JobWatch {
  readonly signal: AbortSignal;
  onSpent?(usage: Usage, model: string): void;
}

interface Running {
  readonly controller: AbortController;
  readonly work: Promise<void>;
}

/** A node that has given no sign of life for so long does nothing any more. */
const silentMs = 120_000;
const lookEveryMs = 30_000;
const keptMs = 30 * 86_400_000;
/** As good as never, for a timer that has to have a time. */
const longestMs = 30 * 86_400_000;

const noticeKey = (id: string): string => `delegation:${id}`;

const tasksOf = (request: unknown): readonly ChildTask[] => (request as { readonly tasks: readonly ChildTask[] }).tasks;

/** What is kept of the outcomes, for whoever looks later. */
const resultOf = (outcomes: readonly ChildOutcome[]): unknown => outcomes.map(({ status, exitReason, apiCalls, durationMs }) => ({ status, exitReason, apiCalls, durationMs }));

/**
 * Helpers of all agents of this gateway. Those that work in the background are written down before they begin; their end starts a turn in the conversation
 * that waits for it, once, and what was under way when a gateway ended is told to be lost and never begun again.
 */
export class Delegations {
  readonly #deps: DelegationsDeps;
  readonly #helpers: Helpers;
  readonly #running = new Map<string, Running>();
  readonly #stopping = new AbortController();
  #stops: Disposable | undefined;
  #watching: Promise<void> = Promise.resolve();

  constructor(deps: DelegationsDeps) {
    this.#deps = deps;
    this.#helpers = new Helpers(deps.clock);
  }

  async start(): Promise<void> {
    this.#stops = this.#deps.store.listen('stop', (name) => {
      for (const [id, { controller }] of this.#running) if (stopName(id) === name) controller.abort();
    });
    await this.recover();
    this.#watching = this.#watch();
  }

  /** Ends every helper. What worked in the background is told to be lost by whoever starts next. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stops?.[Symbol.dispose]();
    await Promise.all([...this.#running.values()].map(({ work }) => work));
    await this.#watching;
  }

  of(sessionId: string): readonly HelperView[] {
    return this.#helpers.of(sessionId);
  }

  depthOf(sessionId: string): number {
    return this.#helpers.depthOf(sessionId);
  }

  /** Has all tasks of a job done, side by side. Never rejects, unless the store does. */
  perform(job: Job, watch: JobWatch): Promise<readonly ChildOutcome[]> {
    const signal = AbortSignal.any([watch.signal, this.#stopping.signal]);
    return Promise.all(job.tasks.map((task, index) => this.#child(job, { task, index }, { ...watch, signal })));
  }

  /** Begins a job in the background once it is written down. False when the conversation has as many as it may. */
  async detach(job: Job): Promise<boolean> {
    const { store, owner, settings } = this.#deps;
    const most = settings().max_async_children;
    const { id, sessionId, tasks } = job;
    const begun = await store.write(async (tx) => {
      if ((await runningDelegations(tx, sessionId)) >= most) return false;
      await keepDelegation(tx, { id, sessionId, owner, request: { tasks } });
      return true;
    });
    if (!begun) return false;
    const controller = new AbortController();
    const work = outsideSession(() => this.#background(job, controller.signal)).finally(() => this.#running.delete(id));
    this.#running.set(id, { controller, work });
    return true;
  }

  /** Tells what was under way when its gateway ended: nobody knows how far it came, so it is not done again. */
  async recover(): Promise<void> {
    const { store, clock, announce } = this.#deps;
    for (const { id, sessionId, request } of await store.read((db) => abandonedDelegations(db, silentMs))) {
      await store.write(async (tx) => {
        if (await endDelegation(tx, id, { state: 'lost' })) await announce(tx, { sessionId, key: noticeKey(id), text: this.#deps.redact(lostNotice(id, tasksOf(request))), nowMs: clock.now() });
      });
    }
  }

  async #child(job: Job, at: { readonly task: ChildTask; readonly index: number }, watch: JobWatch): Promise<ChildOutcome> {
    const { store, clock, log, settings } = this.#deps;
    const options = settings();
    const request: ChildRequest = {
      ...at.task,
      id: `${job.id}_${at.index}`,
      parent: { sessionId: job.sessionId, place: job.place },
      limits: { activityMs: options.child_idle_timeout * 1000, totalMs: options.child_timeout === 0 ? longestMs : options.child_timeout * 1000, maxIterations: options.max_iterations },
      ...(options.model !== undefined && { model: options.model }),
    };
    this.#helpers.begin(request, this.depthOf(job.sessionId) + 1);
    if (options.subagent_auto_approve) await store.write((tx) => grantPatterns(tx, request.id, [{ pattern: everything, grantedBy: 'delegation.subagent_auto_approve' }]));
    const outcome = await runChild(job.run, request, {
      clock,
      log,
      signal: watch.signal,
      onEvent: (event) => {
        this.#helpers.onEvent(request.id, event);
        if (event.type === 'usage') watch.onSpent?.(event.usage, event.model);
      },
    });
    this.#helpers.end(request.id, outcome);
    if (options.subagent_auto_approve) await store.write((tx) => revokeGrants(tx, request.id));
    await this.#release(request.id);
    log.info({ session: job.sessionId, child: request.id, status: outcome.status, reason: outcome.exitReason, calls: outcome.apiCalls, ms: outcome.durationMs }, 'delegation.child_ended');
    return outcome;
  }

  /** What a helper left running is not worth its result. */
  async #release(childId: string): Promise<void> {
    try {
      await this.#deps.release?.(childId);
    } catch (error) {
      this.#deps.log.error({ err: error, child: childId }, 'delegation.not_released');
    }
  }

  /** Never rejects: what cannot be written down is told to be lost by whoever starts next. */
  async #background(job: Job, signal: AbortSignal): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      const outcomes = await this.perform(job, { signal });
      if (this.#stopping.signal.aborted) return;
      await persist(() => store.write((tx) => this.#finish(tx, job, outcomes)), { clock, log, signal: this.#stopping.signal });
    } catch (error) {
      log.error({ err: error, delegation: job.id }, 'delegation.not_ended');
    }
  }

  async #finish(tx: Writing, { id, sessionId, tasks }: Job, outcomes: readonly ChildOutcome[]): Promise<void> {
    if (!(await endDelegation(tx, id, { state: 'done', result: resultOf(outcomes) }))) return;
    await addSpent(tx, sessionId, outcomes.reduce((sum, { usage }) => addUsage(sum, usage), noUsage));
    await this.#deps.announce(tx, { sessionId, key: noticeKey(id), text: this.#deps.redact(endNotice(id, tasks, outcomes)), nowMs: this.#deps.clock.now() });
  }

  async #watch(): Promise<void> {
    const { store, clock, log, owner } = this.#deps;
    while (await slept(clock, lookEveryMs, this.#stopping.signal)) {
      try {
        await this.recover();
        await store.write((tx) => forgetDelegations(tx, keptMs), { patient: true });
        if (this.#running.size > 0) for (const id of await store.read((db) => stoppedDelegations(db, owner))) this.#running.get(id)?.controller.abort();
      } catch (error) {
        log.error({ err: error }, 'delegation.watch_failed');
      }
    }
  }
}
