import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeAtomically } from '../../../lib/write-atomically.ts';
import type { Offers } from './connection.ts';
import { listedTool } from './list-tools.ts';
import type { McpServerOptions } from './options.ts';

/**
 * What a server offered last, kept across restarts: a conversation that goes on after one has the same tools from its first turn, whether the
 * server is there already or not.
 */
export interface RememberedOffers {
  read(): Promise<Offers>;
  write(offers: Offers): Promise<void>;
}

const nothing: Offers = { tools: [], resources: false, prompts: false };

const shape = z.object({ of: z.string(), offers: z.object({ tools: z.array(listedTool), resources: z.boolean(), prompts: z.boolean() }) });

/** Another program, or another address, is another server. */
const identity = ({ command, args, cwd, url }: McpServerOptions): string =>
  createHash('sha256').update(JSON.stringify([command, args, cwd, url])).digest('hex');

export const rememberedOffers = (home: string, name: string, options: McpServerOptions): RememberedOffers => {
  const path = join(home, 'cache', 'mcp', `${encodeURIComponent(name).replaceAll('.', '%2E')}.json`);
  const of = identity(options);
  return {
    async read() {
      try {
        const stored = shape.safeParse(JSON.parse(await readFile(path, 'utf8')));
        return stored.success && stored.data.of === of ? stored.data.offers : nothing;
      } catch (error) {
        if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return nothing;
        throw error;
      }
    },
    async write(offers) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeAtomically(path, JSON.stringify({ of, offers }));
    },
  };
};
