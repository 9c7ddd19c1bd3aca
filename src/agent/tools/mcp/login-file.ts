import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeAtomically } from '../../../lib/write-atomically.ts';

type Tokens = Parameters<OAuthClientProvider['saveTokens']>[0];
type ClientInformation = Parameters<NonNullable<OAuthClientProvider['saveClientInformation']>>[0];

/** A login to a server, as it is kept. */
export interface StoredLogin {
  readonly client?: ClientInformation | undefined;
  /** Where the browser was sent back to; some login servers insist on the same place again. */
  readonly redirectUrl?: string | undefined;
  readonly tokens?: Tokens | undefined;
}

const shape = z.object({
  url: z.string(),
  client: z.custom<ClientInformation>((value) => z.looseObject({ client_id: z.string() }).safeParse(value).success).optional(),
  redirectUrl: z.string().optional(),
  tokens: z.custom<Tokens>((value) => z.looseObject({ access_token: z.string(), token_type: z.string() }).safeParse(value).success).optional(),
});

export interface LoginFile {
  /** Read anew each time: a person may log in from another process. */
  read(): Promise<StoredLogin>;
  write(change: StoredLogin): Promise<void>;
}

const fileName = (server: string): string => `${encodeURIComponent(server).replaceAll('.', '%2E')}.json`;

/** `<home>/mcp-tokens/<server>.json`, for the owner's eyes only. What was given to one address is never sent to another. */
export const loginFile = (home: string, server: { readonly name: string; readonly url: string }): LoginFile => {
  const path = join(home, 'mcp-tokens', fileName(server.name));
  const read = async (): Promise<StoredLogin> => {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
    const parsed = shape.safeParse(parseJson(text));
    if (!parsed.success || parsed.data.url !== server.url) return {};
    const { url: _, ...login } = parsed.data;
    return login;
  };
  return {
    read,
    async write(change) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeAtomically(path, `${JSON.stringify({ ...(await read()), ...change, url: server.url }, undefined, 2)}\n`);
    },
  };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
