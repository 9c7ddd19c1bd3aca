import type * as Mcp from '@modelcontextprotocol/client';
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { ToolError } from '../contract.ts';
import type { ToolContext } from '../contract.ts';
import { activeCalls } from './active-calls.ts';
import type { ActiveCalls } from './active-calls.ts';
import { failureOf, LoginNeeded, reasonText } from './failure.ts';
import { listTools } from './list-tools.ts';
import type { ListedTool } from './list-tools.ts';
import { loginFile } from './login-file.ts';
import { newClient } from './new-client.ts';
import { ownLogin, personalLogin } from './oauth.ts';
import type { Browser, Login } from './oauth.ts';
import type { McpServerOptions } from './options.ts';
import { timeLimit } from './time-limit.ts';
import type { TimeLimit } from './time-limit.ts';
import { openTransport } from './transport.ts';
import type { OpenTransport } from './transport.ts';

export interface ConnectionDeps {
  readonly name: string;
  readonly options: McpServerOptions;
  readonly home: string;
  /** The gateway's own, told to the server. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  redact(text: string): string;
  /** What a child process may know of our environment. */
  environment(): Readonly<Record<string, string>>;
  /** Present while a person is there to log in. */
  readonly browser?: Browser;
  /** The server says that it offers other tools now. */
  toolsChanged?(): void;
}

export interface Offers {
  readonly tools: readonly ListedTool[];
  readonly resources: boolean;
  readonly prompts: boolean;
}

export type ServerRequest<T> = (client: Client, options: RequestOptions) => Promise<T>;

/** One connection to a server, from its handshake to its end. */
export interface Connection {
  /** Resolves with the reason when the connection is over; never rejects. */
  readonly closed: Promise<string>;
  offers(signal: AbortSignal): Promise<Offers>;
  /** Makes a request for a tool call. Fails with `ToolError`, `LoginNeeded` or `SessionForgotten`, or with the signal's reason. */
  use<T>(context: ToolContext, signal: AbortSignal, request: ServerRequest<T>): Promise<T>;
  /** Whether the server still answers. */
  answers(signal: AbortSignal): Promise<boolean>;
  /** Resolves when nothing is left of it. */
  close(reason: string): Promise<void>;
}

/** The library's own timer is never the one that counts: ours stands still while a person is asked. */
const noTimeoutMs = 2 ** 31 - 1;
const probeTimeoutMs = 10_000;

interface Opening {
  readonly library: typeof Mcp;
  readonly deps: ConnectionDeps;
  readonly login: Login | undefined;
  readonly calls: ActiveCalls;
  readonly limit: TimeLimit;
  /** False for programs at first: one would be started a second time only to be asked. */
  readonly negotiates: boolean;
}

interface Opened extends Omit<Opening, 'limit' | 'negotiates'> {
  readonly client: Client;
  readonly way: OpenTransport;
}

const loginFor = async (deps: ConnectionDeps): Promise<Login | undefined> => {
  const { auth, oauth, url } = deps.options;
  if (auth === 'none' || url === undefined) return undefined;
  if (auth === 'client_credentials') return ownLogin(oauth);
  const file = loginFile(deps.home, { name: deps.name, url });
  if (deps.browser === undefined && (await file.read()).tokens === undefined) throw new LoginNeeded(deps.name);
  return personalLogin(oauth, file, deps.browser?.redirectUrl);
};

/** Brings the person to the login page that the server has named, and what they come back with to the transport that was refused. */
const logIn = async ({ deps, login, way }: Pick<Opened, 'deps' | 'login' | 'way'>, signal: AbortSignal): Promise<void> => {
  const address = login?.address();
  if (deps.browser === undefined || address === undefined || way.finishLogin === undefined) throw new LoginNeeded(deps.name);
  const params = await deps.browser.visit(address, signal);
  if (params.get('state') !== login?.state) throw new ToolError('failed', 'the login that came back is not the one that was begun');
  await way.finishLogin(params);
};

const unreachable = (error: unknown, { library, deps, limit }: Opening, way: OpenTransport): unknown => {
  if (limit.passed()) return new ToolError('unavailable', `it did not answer within ${deps.options.connect_timeout} s${way.lastWords()}`, { cause: error });
  if (limit.signal.aborted) return limit.signal.reason;
  if (error instanceof library.UnauthorizedError) return new LoginNeeded(deps.name, { cause: error });
  return new ToolError('unavailable', `${reasonText(error, deps.redact)}${way.lastWords()}`, { cause: error });
};

const speaksOnlyNewer = (error: unknown, library: typeof Mcp): boolean => error instanceof library.ProtocolError && error.code === library.ProtocolErrorCode.UnsupportedProtocolVersion;

/** Connects, by way of a login page if need be. Leaves nothing behind when it fails. */
const shakeHands = async (opening: Opening, isRetry = false): Promise<Opened> => {
  const { library, deps, login, calls, limit, negotiates } = opening;
  limit.signal.throwIfAborted();
  const way = await openTransport(deps, library, login);
  const client = newClient(library, { ...deps, calls, negotiates, toolsChanged: () => deps.toolsChanged?.() });
  client.onerror = (error) => deps.log.debug({ server: deps.name, reason: reasonText(error, deps.redact) }, 'mcp.error');
  // Asking a server for its revision does not listen to the signal.
  const giveUp = (): void => void way.transport.close().catch((error: unknown) => client.onerror?.(new Error('it could not be closed', { cause: error })));
  limit.signal.addEventListener('abort', giveUp, { once: true });
  try {
    await client.connect(way.transport, { signal: limit.signal, timeout: noTimeoutMs });
    return { library, deps, login, calls, client, way };
  } catch (error) {
    await way.end();
    if (!negotiates && speaksOnlyNewer(error, library)) return shakeHands({ ...opening, negotiates: true }, isRetry);
    if (isRetry || !(error instanceof library.UnauthorizedError)) throw unreachable(error, opening, way);
  } finally {
    limit.signal.removeEventListener('abort', giveUp);
  }
  limit.pause();
  await logIn({ deps, login, way }, limit.signal);
  limit.restart();
  return shakeHands(opening, true);
};

const withinTime = async <T>({ deps, client }: Opened, within: { readonly ms: number; readonly signal: AbortSignal }, request: ServerRequest<T>): Promise<T> => {
  using limit = timeLimit(deps.clock, within.ms, within.signal);
  return await request(client, { signal: limit.signal, timeout: noTimeoutMs });
};

const offersOf = async (opened: Opened, signal: AbortSignal): Promise<Offers> => {
  const { name, options, log } = opened.deps;
  const capabilities = opened.client.getServerCapabilities();
  const skipped = (reason: string): void => log.warn({ server: name, reason }, 'mcp.tool_skipped');
  const list = (): Promise<readonly ListedTool[]> => withinTime(opened, { ms: options.connect_timeout * 1000, signal }, (client, how) => listTools(client, how, skipped));
  return { tools: capabilities?.tools === undefined ? [] : await list(), resources: capabilities?.resources !== undefined, prompts: capabilities?.prompts !== undefined };
};

const makeCall = async <T>({ deps, calls, client }: Opened, call: { readonly context: ToolContext; readonly signal: AbortSignal }, request: ServerRequest<T>): Promise<T> => {
  const { context, signal } = call;
  using limit = timeLimit(deps.clock, deps.options.timeout * 1000, signal);
  const onprogress = (): void => {
    context.alive();
    limit.restart();
  };
  try {
    return await calls.run({ context, signal, limit }, () => request(client, { signal: limit.signal, timeout: noTimeoutMs, onprogress }));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!limit.passed()) throw error;
    throw new ToolError('failed', `The MCP server ${deps.name} did not answer within ${deps.options.timeout} s. The call was cancelled; it may have taken effect.`, { cause: error });
  }
};

const answered = async (opened: Opened, signal: AbortSignal): Promise<boolean> => {
  const { deps } = opened;
  try {
    await withinTime(opened, { ms: probeTimeoutMs, signal }, (client, how) => (client.getProtocolEra() === 'modern' ? client.discover(how) : client.ping(how)));
    return true;
  } catch (error) {
    deps.log.debug({ server: deps.name, reason: reasonText(error, deps.redact) }, 'mcp.no_answer');
    return false;
  }
};

/** Rejects with a reason for people: a `ToolError`, or `LoginNeeded`. */
export const openConnection = async (deps: ConnectionDeps, signal: AbortSignal): Promise<Connection> => {
  const library = await import('@modelcontextprotocol/client');
  using limit = timeLimit(deps.clock, deps.options.connect_timeout * 1000, signal);
  const opened = await shakeHands({ library, deps, limit, negotiates: deps.options.url !== undefined, calls: activeCalls(), login: await loginFor(deps) });
  const closed = Promise.withResolvers<string>();
  opened.client.onclose = () => closed.resolve(`it ended${opened.way.lastWords()}`);

  return {
    closed: closed.promise,
    offers: (outer) => offersOf(opened, outer),
    answers: (outer) => answered(opened, outer),
    async use(context, outer, request) {
      const call = { context, signal: outer };
      try {
        try {
          return await makeCall(opened, call, request);
        } catch (error) {
          if (deps.browser === undefined || !(error instanceof library.UnauthorizedError)) throw error;
        }
        await logIn(opened, outer);
        return await makeCall(opened, call, request);
      } catch (error) {
        if (outer.aborted || error instanceof ToolError || error instanceof LoginNeeded) throw error;
        throw failureOf(error, { server: deps.name, library, hasSession: opened.way.hasSession(), redact: deps.redact });
      }
    },
    async close(reason) {
      closed.resolve(reason);
      await opened.way.end();
      await opened.client.close();
    },
  };
};
