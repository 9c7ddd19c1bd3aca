import { z } from 'zod';
import { defineSection } from '../config/section.ts';

const ids = z.array(
  z
    .string()
    .trim()
    .min(1)
    .refine((id) => id !== '*', '* is not accepted here; set allow_all_users: true if everybody may talk to the agent'),
);

export const accessSection = defineSection(
  'access',
  z
    .object({
      allowed_users: ids.meta({ env: 'GATEWAY_ALLOWED_USERS' }).describe('Ids of people who may talk to the agent on every platform').default([]),
      allow_all_users: z.boolean().meta({ env: 'GATEWAY_ALLOW_ALL_USERS' }).describe('Lets everybody talk to the agent on every platform').default(false),
    })
    .prefault({}),
  'live',
);
