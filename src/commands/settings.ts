import { z } from 'zod';
import type { allowlistSection, approvalsSection } from '../agent/approvals/options.ts';
import type { modelSection } from '../agent/models/options.ts';
import { defineSection } from '../config/section.ts';
import type { SectionValues } from '../config/section.ts';
import type { displaySection } from '../delivery/display.ts';
import type { agentSection } from '../sessions/options.ts';

const commandName = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const quickCommand = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('exec'),
    command: z.string().trim().min(1).describe('A line for the shell. It runs as the gateway, without its secrets, for at most 30 seconds'),
    description: z.string().trim().min(1).max(200).describe('What /help says about it').optional(),
  }),
  z.strictObject({
    type: z.literal('alias'),
    target: z.string().trim().min(1).describe('The command that it stands for, with arguments if wanted; what a person types behind it is added'),
    description: z.string().trim().min(1).max(200).describe('What /help says about it').optional(),
  }),
]);

export type QuickCommand = z.output<typeof quickCommand>;

/** Commands of the owner's own. */
export const quickCommandsSection = defineSection(
  'quick_commands',
  z
    .record(z.string().trim().toLowerCase().regex(commandName, 'must be a name of letters, digits, _ and -'), quickCommand)
    .describe('Commands of your own, by name: `{type: exec, command: …}` runs a shell line and shows what it printed, `{type: alias, target: /…}` stands for another command')
    .default({}),
  'live',
);

/** What of the configuration commands may read. */
export type CommandSettings = SectionValues<readonly [typeof agentSection, typeof displaySection, typeof modelSection, typeof quickCommandsSection, typeof approvalsSection, typeof allowlistSection]>;
