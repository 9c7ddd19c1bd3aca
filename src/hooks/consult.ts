import type { Clock } from '../lib/clock.ts';
import type { ReadAnswer } from './answers.ts';

/** One step of a decision, as a trace shows it. */
export interface HookDecision {
  readonly step: string;
  readonly verdict: string;
}

/** What asking a hook came to. */
export type Asked = { readonly type: 'answered'; readonly value: unknown } | { readonly type: 'failed'; readonly problem: string };

/** A hook that is asked. */
export interface Decider {
  readonly id: string;
  readonly onFailure: 'pass' | 'block';
  /** Never rejects, and settles within `limitMs`. */
  ask(event: string, context: unknown, limitMs: number): Promise<Asked>;
  /** What it answered cannot be used. */
  refuse(problem: string): void;
}

/** What a hook's answer changes. */
export interface Opinion<State> {
  readonly state: State;
  readonly verdict: string;
  /** Nobody is asked after this. */
  readonly settled: boolean;
}

/** A decision that several hooks make one after another, each in the light of what was decided before it. */
export interface Matter<State, Answer extends object> {
  readonly event: string;
  readonly start: State;
  contextOf(state: State): unknown;
  read(value: unknown): ReadAnswer<Answer>;
  judge(state: State, answer: Answer, by: string): Opinion<State>;
  /** For a hook that gave no answer and without which nothing may happen; undefined where there is nothing to refuse. */
  block?(state: State, by: string): Opinion<State>;
}

export interface Consulted<State> {
  readonly state: State;
  readonly decisions: readonly HookDecision[];
  /** Who has changed anything last. */
  readonly by: string | null;
}

/** Of all hooks of one decision together. */
const longestMs = 10_000;

const fallen = <State, Answer extends object>(matter: Matter<State, Answer>, state: State, at: { decider: Decider; problem: string }): Opinion<State> => {
  const { decider, problem } = at;
  const blocked = decider.onFailure === 'block' ? matter.block?.(state, decider.id) : undefined;
  return blocked === undefined ? { state, verdict: `no answer (${problem}), goes on without it`, settled: false } : { ...blocked, verdict: `${blocked.verdict}, for it gave no answer (${problem})` };
};

const opinionOf = <State, Answer extends object>(matter: Matter<State, Answer>, state: State, at: { decider: Decider; asked: Asked }): Opinion<State> | undefined => {
  const { decider, asked } = at;
  if (asked.type === 'failed') return fallen(matter, state, { decider, problem: asked.problem });
  const answer = matter.read(asked.value);
  if (answer === undefined) return undefined;
  if (!('problem' in answer)) return matter.judge(state, answer, decider.id);
  const problem = String(answer.problem);
  decider.refuse(problem);
  return fallen(matter, state, { decider, problem });
};

/** Asks hooks in their order until one has settled the matter. */
export const consult = async <State, Answer extends object>(deciders: readonly Decider[], matter: Matter<State, Answer>, clock: Clock): Promise<Consulted<State>> => {
  const untilMs = clock.now() + longestMs;
  const decisions: HookDecision[] = [];
  let state = matter.start;
  let by: string | null = null;
  for (const decider of deciders) {
    const leftMs = untilMs - clock.now();
    const asked: Asked = leftMs > 0 ? await decider.ask(matter.event, matter.contextOf(state), leftMs) : { type: 'failed', problem: 'the hooks before it took too long' };
    const opinion = opinionOf(matter, state, { decider, asked });
    decisions.push({ step: `hook ${decider.id}`, verdict: `${matter.event}: ${opinion?.verdict ?? 'no opinion'}` });
    if (opinion === undefined) continue;
    if (opinion.state !== state) by = decider.id;
    state = opinion.state;
    if (opinion.settled) break;
  }
  return { state, decisions, by };
};
