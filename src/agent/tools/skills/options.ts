import { z } from 'zod';
import { defineSection } from '../../../config/section.ts';

/** Instructions for recurring work that the agent can look up. */
export const skillsSection = defineSection(
  'skills',
  z
    .strictObject({
      disabled: z.array(z.string()).default([]).describe('Names of skills that are not to be used'),
      external_dirs: z.array(z.string().min(1)).default([]).describe('Further folders with skills, besides `skills` in the home folder; the agent only reads them'),
      write_approval: z.boolean().default(false).describe('Ask a person before the agent writes, changes or deletes a skill'),
    })
    .prefault({}),
  'live',
);

export type SkillsOptions = z.output<typeof skillsSection.schema>;
