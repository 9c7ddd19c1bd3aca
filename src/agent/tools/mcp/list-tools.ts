import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';

/** A tool as its server describes it: nothing of it is to be trusted. */
export const listedTool = z.object({
  name: z.string().min(1).max(256),
  description: z.string().default(''),
  inputSchema: z.record(z.string(), z.unknown()).catch({}),
});

export type ListedTool = z.output<typeof listedTool>;

const listPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const maxTools = 1_000;
const maxPages = 64;

/** What a server offers, page by page. What is no tool is told to `skipped` and left out; the others stay. */
export const listTools = async (client: Client, options: RequestOptions, skipped: (reason: string) => void): Promise<readonly ListedTool[]> => {
  const found = new Map<string, ListedTool>();
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const answer = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, listPage, options);
    for (const given of answer.tools) {
      const tool = listedTool.safeParse(given);
      if (!tool.success) skipped(z.prettifyError(tool.error).slice(0, 300));
      else if (found.size < maxTools && !found.has(tool.data.name)) found.set(tool.data.name, tool.data);
    }
    cursor = answer.nextCursor;
    if (cursor === undefined || answer.tools.length === 0) break;
  }
  return [...found.values()];
};
