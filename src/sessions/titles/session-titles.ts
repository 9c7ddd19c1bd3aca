import type { CompleteText } from '../../agent/models/complete-text.ts';
import { ModelError } from '../../core/errors.ts';
import { noUsage } from '../../core/transcript.ts';
import type { Usage } from '../../core/transcript.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { persist } from '../../store/persist.ts';
import { findSession, setFirstTitle } from '../../store/sessions/sessions.ts';
import { claimTitle, finishTitle, postponeTitle, releaseTitles } from '../../store/sessions/title-work.ts';
import type { TitleWork } from '../../store/sessions/title-work.ts';
import { pageOfMessages } from '../../store/sessions/transcripts.ts';
import { addUsageTotals } from '../../store/sessions/turn-totals.ts';
import type { Store, Writing } from '../../store/store.ts';
import { PlannedWork } from '../planned-work.ts';
import { readTitle, titleRequest } from './title-request.ts';

/** Who finds titles for the conversations of an agent. */
export interface Titler {
  readonly complete: CompleteText;
  readonly language: string | undefined;
  /** Takes secrets out of a text. */
  redact(text: string): string;
}

export interface SessionTitlesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The node. */
  readonly owner: string;
  /** Undefined where conversations are to get no title. */
  titler(agent: string): Promise<Titler | undefined>;
}

/** Found, with what it has cost; without a title when the conversation has none yet. */
interface Found {
  readonly title: string | undefined;
  readonly usage: Usage;
}

const atOnce = 2;
const leaseMs = 600_000;
/** A process that has only answered one question is gone by then; the next one has the time. */
const settleMs = 1_000;
const retry = { baseMs: 10_000, capMs: 120_000 } as const;
const mostAttempts = 3;
/** The beginning of a conversation, for more is not needed to name it. */
const mostRows = 12;

/**
 * Gives the conversations that are planned with `planTitle` their titles, beside everything else. What is under way when the process ends is begun again; the title
 * and the end of the plan are one transaction. A title that somebody has given meanwhile stays. What fails is logged, and nobody is bothered with it.
 */
export class SessionTitles {
  readonly #deps: SessionTitlesDeps;
  readonly #work: PlannedWork;

  constructor(deps: SessionTitlesDeps) {
    const { store, clock, log, owner } = deps;
    this.#deps = deps;
    this.#work = new PlannedWork({ store, clock, log, channel: 'title', atOnce, settleMs, perform: (signal) => this.#performNext(signal), release: () => store.write((tx) => releaseTitles(tx, owner)) });
  }

  start(): void {
    this.#work.start();
  }

  stop(): Promise<void> {
    return this.#work.stop();
  }

  async #performNext(signal: AbortSignal): Promise<boolean> {
    const { store, owner } = this.#deps;
    const work = await store.write((tx) => claimTitle(tx, { owner, leaseMs }));
    if (work !== undefined) await this.#perform(work, signal);
    return work !== undefined;
  }

  async #perform(work: TitleWork, signal: AbortSignal): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      const found = await this.#find(work, signal);
      const titled = await persist(() => store.write((tx) => this.#finish(tx, work, found)), { clock, log, signal });
      log.info({ session: work.sessionId, titled, input_tokens: found.usage.inputTokens, output_tokens: found.usage.outputTokens }, 'title.done');
    } catch (error) {
      if (signal.aborted) return;
      await this.#failed(work, error);
    }
  }

  async #find({ sessionId, agent }: TitleWork, signal: AbortSignal): Promise<Found> {
    const { store } = this.#deps;
    const nothing = { title: undefined, usage: noUsage };
    const titler = await this.#deps.titler(agent);
    if (titler === undefined || (await store.read((db) => findSession(db, sessionId)))?.title !== null) return nothing;
    const rows = await store.read((db) => pageOfMessages(db, sessionId, { afterId: 0, limit: mostRows, activeOnly: true }));
    const request = titleRequest(rows.map(({ message }) => message), titler);
    if (request === undefined) return nothing;
    const { text, usage } = await titler.complete(request, signal);
    return { title: readTitle(titler.redact(text)), usage };
  }

  /** Answers whether it has its title from here. */
  async #finish(tx: Writing, { sessionId }: TitleWork, { title, usage }: Found): Promise<boolean> {
    const mine = await finishTitle(tx, { sessionId, owner: this.#deps.owner });
    if (mine && usage !== noUsage) await addUsageTotals(tx, sessionId, usage);
    return mine && title !== undefined && setFirstTitle(tx, sessionId, title);
  }

  async #failed(work: TitleWork, error: unknown): Promise<void> {
    const { store, log, owner } = this.#deps;
    const again = work.attempts < mostAttempts && (!(error instanceof ModelError) || error.rule.retry);
    log.warn({ err: error, session: work.sessionId, attempts: work.attempts, again }, 'title.not_found');
    await store.write(async (tx) => {
      if (again) await postponeTitle(tx, work.sessionId, backoffMs(work.attempts, retry));
      else await finishTitle(tx, { sessionId: work.sessionId, owner });
    });
  }
}
