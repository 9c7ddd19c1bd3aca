import { z } from 'zod';

export const localOptions = z.object({
  socket: z.string().trim().min(1).describe('Path of the socket at which terminals attach; `gateway.sock` in the home folder when it is not set').optional(),
});

export type LocalOptions = z.output<typeof localOptions>;
