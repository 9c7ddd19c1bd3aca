import type { Activity } from '../contract.ts';
import type { ActivityFrame } from './wire.ts';

/** What the agent is doing in each chat right now. It is lost with the process, and nothing depends on it. */
export interface Doing {
  note(chat: string, activity: Activity): void;
  /** Calls that have begun and not ended. */
  snapshot(): readonly ActivityFrame[];
  subscribe(listener: (frame: ActivityFrame) => void): Disposable;
}

const maxChats = 100;

export const newDoing = (): Doing => {
  const open = new Map<string, Map<string, ActivityFrame>>();
  const listeners = new Set<(frame: ActivityFrame) => void>();
  const keep = (frame: ActivityFrame): void => {
    const { chat, activity } = frame;
    const calls = open.get(chat) ?? new Map<string, ActivityFrame>();
    if (activity.type === 'tool_started') calls.set(activity.callId, frame);
    if (activity.type === 'tool_finished') calls.delete(activity.callId);
    if (activity.type === 'end') calls.clear();
    open.delete(chat);
    if (calls.size > 0) open.set(chat, calls);
    const oldest = open.size > maxChats ? open.keys().next().value : undefined;
    if (oldest !== undefined) open.delete(oldest);
  };
  return {
    note(chat, activity) {
      const frame: ActivityFrame = { type: 'activity', chat, activity };
      keep(frame);
      for (const listener of listeners) listener(frame);
    },
    snapshot: () => [...open.values()].flatMap((calls) => [...calls.values()]),
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
};
