import { exactness, isDecidable } from './events.ts';
import type { HookSet } from './load-hooks.ts';
import type { LoadedHook } from './loaded-hook.ts';
import type { OutgoingWebhook } from './outgoing-webhook.ts';

/** Who is asked about an event, in this order: those who name it come before those who name its kind, and those before the others. */
export const decidersOf = ({ hooks }: Pick<HookSet, 'hooks'>, event: string, agent: string): readonly LoadedHook[] => {
  if (!isDecidable(event)) return [];
  // An agent's own hooks have no say in who answers: none may take messages from another.
  const isAsked = (hook: LoadedHook): boolean => hook.manifest.kind === 'decide' && (hook.agent === undefined || (hook.agent === agent && event !== 'select_agent'));
  const ranked = hooks.filter(isAsked).flatMap((hook) => {
    const rank = exactness(hook.events, event);
    return rank === undefined ? [] : [{ hook, rank }];
  });
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ hook }) => hook);
};

/** Who is told of an event, each with the agent it is told about. What concerns everybody is told to an agent's hooks as if it were about that agent alone. */
export const observersOf = ({ hooks, webhooks }: Pick<HookSet, 'hooks' | 'webhooks'>, event: string, agent: string | null): readonly { readonly observer: LoadedHook | OutgoingWebhook; readonly agent: string | null }[] => {
  const watching = [...hooks.filter(({ manifest }) => manifest.kind === 'observe' || !isDecidable(event)), ...webhooks];
  return watching.flatMap((observer) => {
    const isMeant = observer.agent === undefined || agent === null || (observer.agent === agent && event !== 'select_agent');
    return isMeant && exactness(observer.events, event) !== undefined ? [{ observer, agent: agent ?? observer.agent ?? null }] : [];
  });
};
