import { z } from 'zod';
import { defineSection } from '../config/section.ts';
import { isEventPattern } from './events.ts';

const webhook = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an address that begins with https:// or http://' }).meta({ secret: true }).describe('Where events are sent to, as `POST` with JSON'),
  events: z.array(z.string().trim().refine(isEventPattern, { error: ({ input }) => `${JSON.stringify(input)} is no event; docs/hooks.md lists them` })).min(1).describe('Which events: names, `session:*` and the like, or `*`'),
  secret: z.string().min(16).meta({ secret: true }).describe('Signs what is sent, so that the receiver knows whom it is from; at least 16 characters'),
  agent: z.string().trim().min(1).describe('Only events of this agent').optional(),
  timeout: z.number().min(1).max(60).describe('Seconds that the receiver has for an answer').default(10),
  max_attempts: z.int().min(1).max(10).describe('How often an event is sent at most').default(5),
});

export type OutgoingWebhookOptions = Readonly<z.output<typeof webhook>>;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

/** Hooks without code: events that are sent to other programs. */
export const webhooksOutSection = defineSection(
  'webhooks_out',
  z.record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be a name of small letters, digits, _ and -'), webhook).describe('Events that are sent to other programs, by name').default({}),
  'live',
  ({ webhooks_out: all, agents }) => {
    const known = new Set(['main', ...Object.keys(isRecord(agents) ? agents : {})]);
    const lost = Object.entries(all as Readonly<Record<string, OutgoingWebhookOptions>>).filter(([, { agent }]) => agent !== undefined && !known.has(agent));
    return { errors: lost.map(([name, { agent }]) => `webhooks_out.${name}.agent names ${agent}, which is no agent; there are ${[...known].join(', ')}`), warnings: [] };
  },
);
