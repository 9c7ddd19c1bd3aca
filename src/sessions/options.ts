import { z } from 'zod';
import { agentKindFields, checkAgentKind } from '../agent/acp/options.ts';
import { personalitiesSetting } from '../agent/personalities.ts';
import { defineSection } from '../config/section.ts';
import { resetSection } from './reset-policy.ts';

const { session_reset, reset_by_type, reset_by_platform } = resetSection.shape;

export const sessionSections = [
  defineSection('session_reset', session_reset, 'live'),
  defineSection('reset_by_type', reset_by_type, 'live'),
  defineSection('reset_by_platform', reset_by_platform, 'live'),
  defineSection('group_sessions_per_user', z.boolean().describe('Members of a group have a conversation each').default(true), 'restart'),
  defineSection('thread_sessions_per_user', z.boolean().describe('Members of a thread have a conversation each').default(false), 'restart'),
] as const;

export const agentSection = defineSection(
  'agent',
  z
    .object({
      ...agentKindFields,
      max_turns: z.int().min(1).max(1000).describe('Model calls in one turn').default(90),
      gateway_timeout: z.number().min(1).meta({ env: 'HERMES_AGENT_TIMEOUT' }).describe('Seconds without any sign of work after which a turn is ended').default(1800),
      turn_timeout: z.number().min(1).describe('Seconds after which a turn is ended in any case').default(7200),
      max_concurrent_turns: z.int().min(1).max(1000).describe('Turns that run at the same time').default(64),
      queue_limit: z.int().min(1).max(1000).describe('Messages that may wait in one conversation').default(50),
      restart_drain_timeout: z.number().min(0).meta({ env: 'HERMES_RESTART_DRAIN_TIMEOUT' }).describe('Seconds that running turns get to end by themselves at a shutdown').default(5),
      gateway_auto_continue_freshness: z
        .number()
        .min(0)
        .meta({ env: 'HERMES_AUTO_CONTINUE_FRESHNESS' })
        .describe('A turn that the end of the gateway has cut off goes on by itself when that was not longer ago than so many seconds; after that its chat is told, and the next message there continues it. 0 for never')
        .default(3600),
      image_input_mode: z
        .enum(['auto', 'native', 'text'])
        .describe('What the model gets of images: `auto` shows them to models that are not known to be blind and describes them to the others, `native` always shows them, `text` always describes them')
        .default('auto'),
      personality: z.string().trim().toLowerCase().describe('The way of speaking where nobody has chosen another with /personality').optional(),
      personalities: personalitiesSetting.default({}),
    })
    .superRefine(checkAgentKind)
    .prefault({}),
  'restart',
);
