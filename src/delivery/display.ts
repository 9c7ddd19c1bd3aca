import { z } from 'zod';
import { defineSection } from '../config/section.ts';
import type { DisplayTier, Platform } from '../platforms/contract.ts';
import { footerFields } from '../sessions/footer.ts';

export const toolProgressModes = ['off', 'new', 'all', 'verbose', 'log'] as const;

const shape = {
  tool_progress: z.enum(toolProgressModes).describe('What is shown of the tools at work: nothing, each change of tool, every call, every call with its arguments, or only the log'),
  tool_preview_length: z.int().min(0).max(500).describe('How many characters of a call are shown; 0 shows its name only'),
  cleanup_progress: z.boolean().describe('Take the message about tools away once the answer is there'),
  show_reasoning: z.boolean().describe('Show what the model thought above its answer, where the model says it'),
  reasoning_full: z.boolean().describe('Show all of what it thought; otherwise the first 1500 characters'),
  interim_assistant_messages: z.boolean().describe('Say at once what the model says before it uses a tool'),
  long_running_notifications: z.boolean().describe('Say every few minutes that a long piece of work goes on'),
  streaming: z.boolean().describe('Show answers while they are being written, where the platform can edit messages'),
  runtime_footer: z
    .object({
      enabled: z.boolean().describe('A small line below each answer').default(false),
      fields: z.array(z.enum(footerFields)).describe('What the line says, in this order').default(['model', 'context_pct', 'cwd']),
    })
    .describe('A small line below each answer'),
} as const;

const settings = z.object(shape);
const overrides = settings.partial();

export type DisplaySettings = Readonly<z.output<typeof settings>>;
type Overrides = { readonly [Key in keyof DisplaySettings]?: DisplaySettings[Key] };

export const displaySection = defineSection(
  'display',
  z
    .object({
      busy_input_mode: z
        .enum(['interrupt', 'queue', 'steer'])
        .meta({ env: 'HERMES_GATEWAY_BUSY_INPUT_MODE' })
        .describe('What a message does that arrives while the agent is working: stop it and answer everything together, wait for its turn, or be handed to the running turn')
        .default('interrupt'),
      busy_ack_enabled: z.boolean().meta({ env: 'HERMES_GATEWAY_BUSY_ACK_ENABLED' }).describe('Say once per turn that such a message was seen').default(true),
      tool_progress_command: z.boolean().describe('Lets people choose in chats what they see of the tools, with /verbose').default(false),
      ...overrides.shape,
      platforms: z.record(z.string(), overrides).describe('The same keys for one platform, by its name').default({}),
    })
    .prefault({}),
  'live',
);

type Written = Readonly<z.output<typeof overrides>>;
export type DisplayOptions = Written & { readonly platforms: Readonly<Record<string, Written>> };

const everywhere: DisplaySettings = {
  tool_progress: 'all',
  tool_preview_length: 40,
  cleanup_progress: false,
  show_reasoning: false,
  reasoning_full: false,
  interim_assistant_messages: true,
  long_running_notifications: true,
  streaming: true,
  runtime_footer: { enabled: false, fields: ['model', 'context_pct', 'cwd'] },
};

const low: Overrides = { tool_progress: 'off', streaming: false, interim_assistant_messages: false, long_running_notifications: false };

const byTier: Readonly<Record<DisplayTier, Overrides>> = {
  high: {},
  medium: { tool_progress: 'new' },
  low,
  minimal: { ...low, tool_preview_length: 0 },
};

const keys = Object.keys(shape) as (keyof DisplaySettings)[];

/** Only what is set, and only what this is about. */
const chosen = (values: Written | undefined): Overrides => Object.fromEntries(keys.flatMap((key) => (values?.[key] === undefined ? [] : [[key, values[key]]])));

/** What people see while the agent works: the owner's word for the platform, then for all, then what the platform bears. */
export const displayOf = (options: DisplayOptions, platform: Pick<Platform, 'name' | 'display' | 'surface'>): DisplaySettings => {
  const { tier, quietTools } = platform.display;
  const own: Overrides = quietTools === true ? { tool_progress: 'off' } : {};
  // A program takes the first thing it is told for the answer.
  const nothingElse = platform.surface === 'machine' ? byTier.minimal : {};
  return { ...everywhere, ...byTier[tier], ...own, ...chosen(options), ...chosen(options.platforms[platform.name]), ...nothingElse };
};
