import { z } from 'zod';
import { defineSection } from '../config/section.ts';

/** The original has further keys here, which mean nothing to us. */
export const pluginsSection = defineSection(
  'plugins',
  z
    .looseObject({
      platforms: z.array(z.string().trim().min(1)).describe('Further platforms: folders (relative to the home folder) or npm packages that are installed there').default([]),
    })
    .prefault({}),
  'restart',
);
