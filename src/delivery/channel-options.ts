import { z } from 'zod';
import { defineSection } from '../config/section.ts';

/** Names of the owner's own for chats. */
export const channelsSection = defineSection(
  'channels',
  z
    .strictObject({
      aliases: z
        .record(z.string().trim().min(1), z.record(z.string().trim().min(1), z.string().trim().min(1).max(100)))
        .describe('What you call chats, by account and id: `telegram: {"-100123": ops, "-100123:7": alerts}`. `hermes send --to telegram:ops` and the agent find them by it')
        .default({}),
    })
    .prefault({}),
  'live',
);

export type ChannelAliases = z.output<typeof channelsSection.schema>['aliases'];
