import { z } from 'zod';

export const webOptions = z.object({
  title: z.string().min(1).max(60).default('Hermes').describe('Name of the page, shown in its tab and at its top.'),
});

export type WebOptions = z.output<typeof webOptions>;
