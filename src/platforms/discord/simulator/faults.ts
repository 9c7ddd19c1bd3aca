import type { Fault, FaultPlan } from '../../simulator.ts';

export interface Faults {
  plan(plan: FaultPlan): void;
  /** The fault that the next call of the class meets. */
  take(what: FaultPlan['what']): Fault | undefined;
}

export const newFaults = (): Faults => {
  const plans: { what: FaultPlan['what']; fault: Fault; left: number }[] = [];
  return {
    plan: ({ what, fault, count = 1 }) => void plans.push({ what, fault, left: count }),
    take(what) {
      const index = plans.findIndex((plan) => plan.what === what || plan.what === 'any');
      const found = plans[index];
      if (found === undefined) return undefined;
      found.left -= 1;
      if (found.left <= 0) plans.splice(index, 1);
      return found.fault;
    },
  };
};
