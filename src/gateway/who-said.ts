import type { InboundEvent } from '../core/message.ts';

/** The person behind an event, for the log of administrative acts. */
export const whoSaid = ({ account, sender }: InboundEvent): string => `${account}:${sender.id}${sender.name === undefined ? '' : ` (${sender.name})`}`;
