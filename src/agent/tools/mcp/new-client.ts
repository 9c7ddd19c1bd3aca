import type * as Mcp from '@modelcontextprotocol/client';
import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import { pathToFileURL } from 'node:url';
import type { ActiveCalls } from './active-calls.ts';
import { elicit, elicitVisit } from './elicit.ts';
import type { Interview } from './elicit.ts';
import type { McpServerOptions } from './options.ts';

const questionTimeoutMs = 600_000;

export interface ClientDeps {
  readonly name: string;
  readonly options: McpServerOptions;
  readonly version: string;
  readonly calls: ActiveCalls;
  /** Asks the server which revision of the protocol it speaks before anything else. */
  readonly negotiates: boolean;
  toolsChanged(): void;
}

/** Lets a server ask the person for whom it works; time does not count meanwhile. */
const whileAsking = async (deps: ClientDeps, talk: (interview: Interview) => Promise<ElicitResult>): Promise<ElicitResult> => {
  const call = deps.calls.current();
  if (call === undefined) return { action: 'cancel' };
  call.limit.pause();
  try {
    return await talk({ server: deps.name, timeoutMs: questionTimeoutMs, ask: (question) => call.context.ask({ ...question, begun: true }, call.signal) });
  } finally {
    call.limit.restart();
  }
};

/**
 * A client that answers what a server may ask: questions go to the person of the call, the only root is the folder the program runs in, and
 * the model is not lent out.
 */
export const newClient = (library: typeof Mcp, deps: ClientDeps): Client => {
  const { cwd } = deps.options;
  const client = new library.Client(
    { name: 'hermes-gateway', version: deps.version },
    {
      capabilities: { elicitation: { form: {}, url: {} }, roots: {} },
      versionNegotiation: { mode: deps.negotiates ? 'auto' : 'legacy' },
      listChanged: { tools: { autoRefresh: false, onChanged: () => deps.toolsChanged() } },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => whileAsking(deps, (interview) => (params.mode === 'url' ? elicitVisit(params, interview) : elicit(params, interview))));
  client.setRequestHandler('roots/list', () => ({ roots: cwd === undefined ? [] : [{ uri: pathToFileURL(cwd).href }] }));
  client.fallbackRequestHandler = (request) => Promise.reject(new library.ProtocolError(library.ProtocolErrorCode.MethodNotFound, `This client does not offer ${request.method}.`));
  return client;
};
