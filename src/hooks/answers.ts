import { z } from 'zod';

/** What a hook answered, or why that is no answer; undefined when it has no opinion. */
export type ReadAnswer<T> = T | { readonly problem: string } | undefined;

const message = z.string().trim().min(1).max(4000).optional();
const reason = z.string().trim().max(500).optional();

const commandAnswer = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('allow') }),
  z.object({ decision: z.literal('deny'), message }),
  z.object({ decision: z.literal('handled'), message }),
  z.object({ decision: z.literal('rewrite'), command_name: z.string().trim().regex(/^\/?[^\s/@]{1,100}$/), raw_args: z.string().max(20_000).default('') }),
]);

/** What becomes of a command. */
export type CommandAnswer = Readonly<z.output<typeof commandAnswer>>;

const filterAnswer = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('pass') }),
  z.object({ decision: z.literal('drop'), reason, message }),
  z.object({ decision: z.literal('replace'), text: z.string().refine((text) => text.trim() !== '', 'is empty'), reason }),
]);

/** What becomes of a text on its way in or out. */
export type FilterAnswer = Readonly<z.output<typeof filterAnswer>>;

const agentName = z.string().trim().min(1).max(100);
const agentAnswer = z.union([agentName.transform((agent) => ({ agent })), z.object({ agent: agentName })]);

export type AgentAnswer = Readonly<z.output<typeof agentAnswer>>;

const reader =
  <T extends object>(schema: z.ZodType<T>, expected: string) =>
  (value: unknown): ReadAnswer<T> => {
    if (value === null || value === undefined || value === '') return undefined;
    const read = schema.safeParse(value);
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
    return { problem: `its answer is not ${expected}${where}` };
  };

export const readCommandAnswer = reader<CommandAnswer>(commandAnswer, 'a decision about a command');
export const readFilterAnswer = reader<FilterAnswer>(filterAnswer, 'a decision about a text');
export const readAgentAnswer = reader<AgentAnswer>(agentAnswer, 'the name of an agent');
