import type { Fault, FaultPlan } from '../../simulator.ts';
import { record } from '../wire.ts';

export type CallClass = FaultPlan['what'];

/** Which class of calls a request belongs to. */
export const classOf = (method: string, path: string, body: unknown): CallClass | undefined => {
  if (path.endsWith('/sync')) return 'receive';
  if (path.endsWith('/account/whoami')) return 'identify';
  if (path.includes('/media/') && method === 'GET') return 'download';
  if (path.includes('/typing/')) return 'typing';
  if (path.includes('/redact/')) return 'edit';
  if (!/\/send\/m\.room\.(?:message|encrypted)\//.test(path)) return undefined;
  return record(record(body)?.['m.relates_to'])?.['rel_type'] === 'm.replace' ? 'edit' : 'send';
};

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
      const index = plans.findIndex((plan) => plan.what === 'any' || plan.what === what);
      const plan = plans[index];
      if (plan === undefined) return undefined;
      plan.left -= 1;
      if (plan.left <= 0) plans.splice(index, 1);
      return plan.fault;
    },
  };
};
