import type { Fault, FaultPlan } from '../../simulator.ts';

export type CallClass = FaultPlan['what'];

const classes: Readonly<Record<string, CallClass>> = {
  'apps.connections.open': 'receive',
  'auth.test': 'identify',
  'chat.postMessage': 'send',
  'chat.postEphemeral': 'send',
  'files.completeUploadExternal': 'send',
  'chat.update': 'edit',
  'chat.delete': 'edit',
  'assistant.threads.setStatus': 'typing',
};

/** Which class of calls a method belongs to. */
export const classOf = (method: string): CallClass | undefined => classes[method];

export interface Faults {
  plan(plan: FaultPlan): void;
  /** The fault for the next call of a class, which uses it up. */
  take(what: CallClass | undefined): Fault | undefined;
}

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
  };
};
