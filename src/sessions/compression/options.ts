import { z } from 'zod';
import { defineSection } from '../../config/section.ts';

const share = z.number().min(0.05).max(0.95);

/** When a conversation is summarised to stay within what its model can read, and what of it stays word for word. */
export const compressionSection = defineSection(
  'compression',
  z
    .strictObject({
      enabled: z.boolean().describe('Summarise the middle of a conversation that grows too long; without it, only the newest part is sent to the model').default(true),
      threshold: share.describe('Share of the window at which a conversation is summarised; at least three quarters for windows under 512,000 tokens, and never more than 256,000 tokens').default(0.5),
      model_thresholds: z.record(z.string().min(1), share).describe('The same for models whose name contains the key; the longest key that fits counts, and is taken as it is').default({}),
      target_ratio: z.number().min(0.05).max(0.8).describe('Share of the threshold that the newest messages may keep word for word').default(0.2),
      protect_first_n: z.int().min(0).max(20).describe('Messages at the beginning that stay word for word').default(3),
      protect_last_n: z.int().min(1).max(200).describe('Newest messages that stay word for word where there is room').default(20),
      max_messages: z.int().min(50).max(1500).describe('Messages after which a conversation is summarised however short they are').default(1000),
      abort_on_summary_failure: z.boolean().describe('When no summary can be had, leave the conversation as it is instead of putting a plain list in its place').default(false),
    })
    .prefault({}),
  'live',
);

export type CompressionOptions = z.output<typeof compressionSection.schema>;
