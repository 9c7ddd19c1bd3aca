import { StoreError } from '../../core/errors.ts';
import type { TurnEvent } from '../../core/turn.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OwnQuestions } from '../../sessions/ask-person.ts';
import type { BegunTurn } from '../../sessions/begin.ts';
import { turnLeaseMs } from '../../sessions/commit.ts';
import { rowsOfTurn } from '../../store/api/api-calls.ts';
import { appendRunEvents, resumeRunEvents } from '../../store/api/api-run-events.ts';
import type { RunEvent } from '../../store/api/api-run-events.ts';
import { holdLane } from '../../store/lanes/lanes.ts';
import { persist } from '../../store/persist.ts';
import type { Store } from '../../store/store.ts';
import { callOf, isRun } from './call-of.ts';

export interface RunLogDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is on its way into the store for one run. */
interface Writer {
  readonly begun: BegunTurn;
  readonly runId: string;
  pending: RunEvent[];
  writing: Promise<void> | undefined;
  hasSaid: boolean;
  /** The next words begin a new message. */
  between: boolean;
}

/** Words that wait together are one event. */
const joined = (last: RunEvent | undefined, next: RunEvent): RunEvent | undefined => {
  if (last?.type === 'text' && next.type === 'text') return { type: 'text', delta: last.delta + next.delta };
  if (last?.type === 'reasoning' && next.type === 'reasoning') return { type: 'reasoning', delta: last.delta + next.delta };
  return undefined;
};

/** Keeps what happens in runs, so that any number of readers can follow them at any time. Words are written as fast as the store takes them, never faster. */
export class RunLog {
  readonly #deps: RunLogDeps;
  readonly #writers = new Map<number, Writer>();
  readonly #closing = new AbortController();

  constructor(deps: RunLogDeps) {
    this.#deps = deps;
  }

  /** A turn begins, perhaps where another process has left it. */
  async begins(begun: BegunTurn): Promise<void> {
    const runId = callOf(begun);
    if (runId === undefined || !isRun(runId)) return;
    const { id: turnId, sessionId } = begun.turn;
    const said = begun.resumed ? (await this.#deps.store.read((db) => rowsOfTurn(db, { sessionId, turnId }))).rows.map(({ content }) => content) : [];
    if (begun.resumed) {
      await this.#deps.store.write(async (tx) => {
        await holdLane(tx, begun.claim, turnLeaseMs);
        await resumeRunEvents(tx, runId, said);
      });
    }
    const hasSaid = said.some((text) => text !== '');
    this.#writers.set(turnId, { begun, runId, pending: [], writing: undefined, hasSaid, between: hasSaid });
  }

  onEvent(begun: BegunTurn, event: TurnEvent): void {
    const writer = this.#writers.get(begun.turn.id);
    if (writer === undefined) return;
    for (const kept of keptOf(writer, event)) {
      const together = joined(writer.pending.at(-1), kept);
      if (together === undefined) writer.pending.push(kept);
      else writer.pending.splice(-1, 1, together);
    }
    if (writer.pending.length > 0) writer.writing ??= this.#write(writer);
  }

  /** Resolves when everything that has happened so far is kept; the turn tells nothing more. */
  async told(begun: BegunTurn): Promise<void> {
    await this.#drained(begun);
    this.#writers.delete(begun.turn.id);
  }

  /** Undefined for a turn that is no run. */
  questionsOf(begun: BegunTurn): OwnQuestions | undefined {
    const writer = this.#writers.get(begun.turn.id);
    if (writer === undefined) return undefined;
    return {
      ready: () => this.#drained(begun),
      show: (tx, { id, purpose, question }) => appendRunEvents(tx, writer.runId, [{ type: 'asked', questionId: id, callId: purpose.type === 'call' ? purpose.callId : null, question }]),
    };
  }

  /** Nobody waits for a store that is in trouble any longer. */
  close(): void {
    this.#closing.abort();
  }

  async #drained({ turn }: BegunTurn): Promise<void> {
    for (let writer = this.#writers.get(turn.id); writer?.writing !== undefined; writer = this.#writers.get(turn.id)) await writer.writing;
  }

  /** Never rejects: a run whose events cannot be kept goes on, and ends with its whole answer. */
  async #write(writer: Writer): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { begun, runId } = writer;
    try {
      while (writer.pending.length > 0) {
        const batch = writer.pending;
        writer.pending = [];
        const write = (): Promise<void> =>
          store.write(async (tx) => {
            await holdLane(tx, begun.claim, turnLeaseMs);
            await appendRunEvents(tx, runId, batch);
          });
        await persist(write, { clock, log, signal: this.#closing.signal });
      }
    } catch (error) {
      writer.pending = [];
      // Whoever has the lane now tells the rest.
      if (!(error instanceof StoreError) || error.code !== 'lane_lost') log.error({ err: error, run: runId }, 'api.run_events_not_kept');
    } finally {
      writer.writing = undefined;
    }
  }
}

const keptOf = (writer: Writer, event: TurnEvent): readonly RunEvent[] => {
  switch (event.type) {
    case 'text': {
      const delta = writer.between && writer.hasSaid ? `\n\n${event.delta}` : event.delta;
      writer.between = false;
      writer.hasSaid = true;
      return [{ type: 'text', delta }];
    }
    case 'reasoning':
      return [event];
    case 'message':
      if (event.message.role === 'user') return [{ type: 'steered', text: event.message.content }];
      if (event.message.role !== 'assistant') return [];
      writer.between = true;
      return [{ type: 'said' }];
    case 'tool_started':
      return [{ type: 'tool_started', callId: event.callId, name: event.name, preview: event.preview }];
    case 'tool_finished':
      return [{ type: 'tool_finished', callId: event.callId, name: event.name, ok: event.ok, durationMs: event.durationMs }];
    case 'usage':
    case 'retrying':
    case 'end':
      return [];
    default:
      throw event satisfies never;
  }
};
