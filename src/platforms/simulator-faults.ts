import type { Clock } from '../lib/clock.ts';
import type { Fault, FaultPlan } from './simulator.ts';

export type CallClass = FaultPlan['what'];

export interface Faults {
  plan(plan: FaultPlan): void;
  /** The fault for the next call of a class, which uses it up. */
  take(what: CallClass | undefined): Fault | undefined;
  /** How many plans have not been used up. */
  left(): number;
}

/** What is planned to go wrong with a simulated platform, in the order in which it was planned. */
export const newFaults = (): Faults => {
  const plans: { readonly what: CallClass; readonly fault: Fault; left: number }[] = [];
  return {
    plan({ what, fault, count = 1 }) {
      plans.push({ what, fault, left: count });
    },
    take(what) {
      const index = plans.findIndex((plan) => plan.what === 'any' || (what !== undefined && plan.what === what));
      const plan = plans[index];
      if (plan === undefined) return undefined;
      plan.left -= 1;
      if (plan.left <= 0) plans.splice(index, 1);
      return plan.fault;
    },
    left: () => plans.length,
  };
};

/** Whether a call goes on as if nothing were wrong, and whether its answer is to be lost. */
export type Course = 'over' | 'go on' | 'lose answer';

/** How a platform over HTTP says what a fault makes it say. */
export interface FaultyAnswers {
  readonly clock: Clock;
  refuse(fault: Extract<Fault, { type: 'status' }>): void;
  limit(retryAfterMs: number): void;
  garbage(): void;
  breakOff(): void;
}

export const courseAfter = async (fault: Fault | undefined, answers: FaultyAnswers): Promise<Course> => {
  if (fault === undefined) return 'go on';
  switch (fault.type) {
    case 'status':
      answers.refuse(fault);
      return 'over';
    case 'rate_limit':
      answers.limit(fault.retryAfterMs);
      return 'over';
    case 'delay':
      await answers.clock.sleep(fault.ms);
      return 'go on';
    case 'hang':
      return 'over';
    case 'refuse':
      answers.breakOff();
      return 'over';
    case 'drop_answer':
      return 'lose answer';
    case 'garbage':
      answers.garbage();
      return 'over';
    default:
      return fault satisfies never;
  }
};
