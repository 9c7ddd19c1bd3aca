import { z } from 'zod';
import type { Tool, ToolContext } from './contract.ts';
import { ToolError } from './contract.ts';

export interface ToolSpec<Args> {
  readonly name: string;
  readonly description: string;
  readonly args: z.ZodType<Args>;
  readonly parallelSafe?: boolean;
  run(args: Args, context: ToolContext, signal: AbortSignal): Promise<string>;
}

/** A tool whose arguments are described to the model and checked by one schema. */
export const defineTool = <Args>(spec: ToolSpec<Args>): Tool => {
  const { $schema: _, ...parameters } = z.toJSONSchema(spec.args, { io: 'input' });
  return {
    definition: { name: spec.name, description: spec.description, parameters },
    ...(spec.parallelSafe !== undefined && { parallelSafe: spec.parallelSafe }),
    async run(args, context, signal) {
      const parsed = spec.args.safeParse(args);
      if (!parsed.success) throw new ToolError('bad_arguments', z.prettifyError(parsed.error));
      return spec.run(parsed.data, context, signal);
    },
  };
};
