import type { TurnEvent } from '../../../core/turn.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ChildOutcome, ChildRequest, ChildStatus } from './contract.ts';

/** One helper as people see it. */
export interface HelperView {
  readonly id: string;
  readonly goal: string;
  readonly startedAtMs: number;
  /** Model calls so far. */
  readonly calls: number;
  /** The tool that it uses right now. */
  readonly doing?: string;
  readonly end?: { readonly status: ChildStatus; readonly atMs: number };
}

interface Helper {
  readonly sessionId: string;
  readonly depth: number;
  view: HelperView;
}

const keptMs = 30 * 60_000;
const mostKept = 200;

/** The helpers of this process: those at work, and for a while those that have ended. */
export class Helpers {
  readonly #clock: Clock;
  readonly #all = new Map<string, Helper>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin({ id, goal, parent }: ChildRequest, depth: number): void {
    this.#forgetOld();
    this.#all.set(id, { sessionId: parent.sessionId, depth, view: { id, goal, startedAtMs: this.#clock.now(), calls: 0 } });
  }

  onEvent(id: string, event: TurnEvent): void {
    const helper = this.#all.get(id);
    if (helper === undefined) return;
    const { doing: _before, ...view } = helper.view;
    if (event.type === 'usage' && event.helper !== true) helper.view = { ...helper.view, calls: view.calls + 1 };
    else if (event.type === 'tool_started') helper.view = { ...view, doing: event.preview === '' ? event.name : `${event.name} ${event.preview}` };
    else if (event.type === 'tool_finished') helper.view = view;
  }

  end(id: string, { status }: ChildOutcome): void {
    const helper = this.#all.get(id);
    if (helper === undefined) return;
    const { doing: _before, ...view } = helper.view;
    helper.view = { ...view, end: { status, atMs: this.#clock.now() } };
  }

  /** Those of one conversation, in the order in which they began. */
  of(sessionId: string): readonly HelperView[] {
    return [...this.#all.values()].filter((helper) => helper.sessionId === sessionId).map(({ view }) => view);
  }

  /** How many hands work has gone through to reach this conversation; 0 for one of people. */
  depthOf(sessionId: string): number {
    return this.#all.get(sessionId)?.depth ?? 0;
  }

  #forgetOld(): void {
    const ended = [...this.#all].filter(([, { view }]) => view.end !== undefined);
    const surplus = this.#all.size - mostKept;
    for (const [i, [id, { view }]] of ended.entries()) if (i < surplus || this.#clock.now() - (view.end?.atMs ?? 0) > keptMs) this.#all.delete(id);
  }
}
