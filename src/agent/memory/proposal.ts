import { z } from 'zod';
import type { MemoryProposal } from '../../store/agents/memory-proposals.ts';
import type { WantedChange } from '../tools/memory.ts';

const wanted = z.object({
  target: z.enum(['memory', 'user']),
  change: z.discriminatedUnion('action', [
    z.object({ action: z.literal('add'), content: z.string() }),
    z.object({ action: z.literal('replace'), oldText: z.string(), content: z.string() }),
    z.object({ action: z.literal('remove'), oldText: z.string() }),
  ]),
});

/** What a stored proposal asks for; undefined when it is none that we could have written. */
export const parseProposal = (proposal: Pick<MemoryProposal, 'target' | 'change'>): WantedChange | undefined => wanted.safeParse(proposal).data;
