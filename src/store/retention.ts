import type { Store } from './store.ts';
export const prune = (_store: Store, _limits: { inboxDays: number; outboxDays: number }): Promise<Record<string, number>> => Promise.resolve({});
