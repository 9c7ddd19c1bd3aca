import type * as Mcp from '@modelcontextprotocol/client';
import type { StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client';
import { slept } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import { limitedFetch } from './limited-fetch.ts';
import type { Browser, Login } from './oauth.ts';
import type { McpServerOptions } from './options.ts';
import { boundedLine } from '../clean-text.ts';

/** Larger than any result that makes sense; a longer one ends the connection. */
const maxMessageBytes = 10 * 1024 * 1024;
const keptWords = 2_000;
/** The library asks a program to end, then tells it to, then kills it. */
const longestEndMs = 6_000;
const goodbyeMs = 2_000;

export interface OpenTransport {
  readonly transport: Transport;
  /** What a program wrote to its error output just before now, to go behind a reason. */
  lastWords(): string;
  /** Takes what a login page sent back. */
  finishLogin?(params: URLSearchParams): Promise<void>;
  /** The server keeps a session for us, and may forget it. */
  hasSession(): boolean;
  /** Resolves when nothing is left of it, a program included. */
  end(): Promise<void>;
}

export interface TransportDeps {
  readonly options: McpServerOptions;
  readonly clock: Clock;
  redact(text: string): string;
  environment(): Readonly<Record<string, string>>;
  readonly browser?: Browser;
}

/** The way to a server, not yet started. */
export const openTransport = async (deps: TransportDeps, library: typeof Mcp, login: Login | undefined): Promise<OpenTransport> => {
  const { command, url } = deps.options;
  if (command !== undefined) return startProgram(deps, command);
  const transport = new library.StreamableHTTPClientTransport(new URL(url ?? ''), {
    fetch: limitedFetch(maxMessageBytes),
    requestInit: { headers: deps.options.headers },
    ...(login !== undefined && { authProvider: login.provider }),
    // More rights need a person; without one the call that wants them fails, and the others go on.
    ...(deps.options.auth === 'oauth' && deps.browser === undefined && { onInsufficientScope: 'throw' }),
  });
  return {
    transport,
    lastWords: () => '',
    finishLogin: (params) => transport.finishAuth(params),
    hasSession: () => transport.sessionId !== undefined,
    async end() {
      const said = new AbortController();
      await Promise.race([sayGoodbye(transport), slept(deps.clock, goodbyeMs, said.signal)]);
      said.abort();
      await transport.close();
    },
  };
};

/** A server may free what it keeps for us; one that does not answer finds out by itself. */
const sayGoodbye = async (transport: StreamableHTTPClientTransport): Promise<void> => {
  try {
    await transport.terminateSession();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    transport.onerror?.(error);
  }
};

const startProgram = async ({ options, clock, redact, environment }: TransportDeps, command: string): Promise<OpenTransport> => {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const transport = new StdioClientTransport({
    command,
    args: options.args,
    env: { ...environment(), ...options.env },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stderr: 'pipe',
    maxBufferSize: maxMessageBytes,
  });
  const gone = new AbortController();
  transport.onclose = () => gone.abort();
  let words = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    words = `${words}${chunk.toString('utf8')}`.slice(-keptWords);
  });
  return {
    transport,
    lastWords: () => {
      const line = boundedLine(redact(words.trimEnd().split('\n').at(-1) ?? ''), 300);
      return line === '' ? '' : `; its last words: ${line}`;
    },
    hasSession: () => false,
    async end() {
      await transport.close();
      await slept(clock, longestEndMs, gone.signal);
    },
  };
};
