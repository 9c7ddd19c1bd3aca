import { z } from 'zod';

/** The last file of every backup; one without it is cut off. */
export const manifestName = 'manifest.json';

/** Says what a backup holds and what it was made of. Files that a later version adds to it are no obstacle. */
export const manifestSchema = z.object({
  format: z.literal(1),
  version: z.string(),
  createdAt: z.string(),
  /** Where the gateway keeps its data. In the backup it is a file of the embedded store in any case. */
  engine: z.enum(['sqlite', 'postgres']),
  /** Of the database, when it is part of the backup. */
  schemaVersion: z.number().int().optional(),
  secrets: z.boolean(),
  files: z.array(z.object({ path: z.string(), sizeBytes: z.number().int(), sha256: z.string() })),
});

export type Manifest = z.output<typeof manifestSchema>;
