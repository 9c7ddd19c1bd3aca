import { z } from 'zod';
import { defineSection } from '../../config/section.ts';

const isWebAddress = (value: string): boolean => {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
};

const honchoOptions = z.strictObject({
  base_url: z
    .string()
    .trim()
    .refine(isWebAddress, 'must be an http or https address without user name and password; the key belongs into memory.honcho.api_key')
    .default('https://api.honcho.dev')
    .meta({ env: 'HONCHO_URL' })
    .describe('Address of the Honcho server'),
  api_key: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]*$/, 'contains characters that cannot be part of a key')
    .optional()
    .meta({ env: 'HONCHO_API_KEY', secret: true })
    .describe('Key of the Honcho server. A server on your own machine may need none'),
  workspace: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9_-]{1,60}$/, 'may only have letters, digits, _ and -, at most 60 of them')
    .default('hermes')
    .meta({ env: 'HONCHO_WORKSPACE_ID' })
    .describe('Name of the workspace there. Agents other than `main` have one of their own, with their name behind it'),
  timeout_ms: z.int().min(1000).max(120_000).default(30_000).describe('How long a request in the background may take'),
});

/** What the agent keeps beyond a conversation, and where. */
export const memorySection = defineSection(
  'memory',
  z
    .strictObject({
      memory_enabled: z.boolean().default(true).describe('Keep notes of the agent’s own in memories/MEMORY.md'),
      user_profile_enabled: z.boolean().default(true).describe('Keep what the agent learns about people: about the owner in memories/USER.md, about others in a file each'),
      user_profile_per_person: z.boolean().default(false).describe('Everybody has a profile of their own below memories/users, also the owner, whose profile is memories/USER.md otherwise'),
      memory_char_limit: z.int().min(200).max(20_000).default(2200).describe('Longest MEMORY.md, in characters. It is part of every request'),
      user_char_limit: z.int().min(200).max(20_000).default(1375).describe('Longest profile of a person, in characters'),
      write_approval: z.boolean().default(false).describe('Memories wait for a person’s yes: `/memory pending`, `/memory approve`'),
      review_at_end: z.boolean().default(true).describe('When a conversation ends, have the model look through it once for what is worth keeping'),
      review_min_turns: z.int().min(1).max(1000).default(4).meta({ aliases: ['flush_min_turns'] }).describe('Shorter conversations are not looked through'),
      provider: z.enum(['none', 'honcho']).default('none').describe('A further memory beside the files: `honcho` is a Honcho server'),
      prefetch_timeout_ms: z.int().min(50).max(10_000).default(1500).describe('How long an answer may wait for what the provider remembers; then it goes on without'),
      honcho: honchoOptions.prefault({}),
    })
    .prefault({}),
  'restart',
);

export type MemoryOptions = z.output<typeof memorySection.schema>;
export type HonchoOptions = MemoryOptions['honcho'];
