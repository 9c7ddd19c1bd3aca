import type { Fault, FaultPlan } from '../../simulator.ts';

export type CallClass = FaultPlan['what'];

export interface Faults {
  plan(plan: FaultPlan): void;
  /** The fault for the next call of a class, which uses it up. */
  take(what: CallClass): Fault | undefined;
  /** How many plans have not been used up. */
  left(): number;
}

export const newFaults = (): Faults => {
  const plans: { readonly what: CallClass; readonly fault: Fault; left: number }[] = [];
  return {
    plan: ({ what, fault, count = 1 }) => void plans.push({ what, fault, left: count }),
    take(what) {
      const index = plans.findIndex((plan) => plan.what === 'any' || plan.what === what);
      const plan = plans[index];
      if (plan === undefined) return undefined;
      plan.left -= 1;
      if (plan.left <= 0) plans.splice(index, 1);
      return plan.fault;
    },
    left: () => plans.length,
  };
};
