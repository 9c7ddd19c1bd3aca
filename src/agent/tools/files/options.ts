import { z } from 'zod';
import { defineSection } from '../../../config/section.ts';

const filesOptions = z.strictObject({
  roots: z.array(z.string().trim().min(1)).default([]).describe('Folders that the file tools may read and write besides the workspace and the home of the agent, such as `~/projects`. Credentials in them stay closed.'),
  read_roots: z.array(z.string().trim().min(1)).default([]).describe('Folders that the file tools may only read.'),
  write_root: z.string().trim().min(1).optional().describe('When set, the file tools write nothing outside this folder, whatever else is allowed.').meta({ env: 'HERMES_WRITE_SAFE_ROOT' }),
});

/** Where the file tools may work. */
export const filesSection = defineSection('files', filesOptions.prefault({}), 'restart');
