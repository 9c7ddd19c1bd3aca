import { z } from 'zod';
import { defineSection } from '../../../config/section.ts';

/** How the agent hands work to helpers. */
export const delegationSection = defineSection(
  'delegation',
  z
    .strictObject({
      max_concurrent_children: z.int().min(1).max(32).meta({ env: 'DELEGATION_MAX_CONCURRENT_CHILDREN' }).describe('How many helpers one call may start; they work side by side').default(3),
      max_async_children: z.int().min(0).max(32).describe('How many pieces of work one conversation may have in the background at a time').default(3),
      max_spawn_depth: z.int().min(1).max(5).describe('1: helpers hand nothing on. 2 and more: a helper whose role is orchestrator may have helpers of its own').default(1),
      max_iterations: z.int().min(1).max(500).describe('Model calls with tools that one helper may make').default(50),
      child_timeout: z.int().min(0).max(604_800).describe('Seconds after which a helper is ended, whatever it does; 0 for as long as it takes').default(0),
      child_idle_timeout: z.int().min(30).max(86_400).describe('Seconds without a sign of life from its model or tools after which a helper is ended').default(1200),
      model: z.string().trim().min(1).max(200).optional().describe("The model of helpers, at the agent's own endpoint; the agent's own model when left out"),
      subagent_auto_approve: z.boolean().describe('Whether helpers may do without asking what the agent would have to ask a person for. Some commands are never run all the same').default(false),
    })
    .prefault({}),
  'live',
);

export type DelegationOptions = z.output<typeof delegationSection.schema>;
