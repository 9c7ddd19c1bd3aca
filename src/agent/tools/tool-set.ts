import type { Tool, ToolSet } from './contract.ts';

/** Throws when two tools have one name. The order is the order in which the model reads them, and never changes by itself. */
export const toolSet = (tools: readonly Tool[]): ToolSet => {
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  if (byName.size !== tools.length) throw new Error('two tools have the same name');
  const definitions = tools.map((tool) => tool.definition);
  return { definitions, get: (name) => byName.get(name) };
};
