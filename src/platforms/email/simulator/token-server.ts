import type { IncomingMessage } from 'node:http';
import { startSimulatorServer } from '../../simulator-server.ts';

/** Knows which access tokens are good. */
export interface TokenKeeper {
  accepts(token: string): boolean;
}

/** The token endpoint of an OAuth 2 service (RFC 6749 section 6). */
export interface TokenServer extends TokenKeeper, AsyncDisposable {
  /** As below `oauth` in the settings of a mailbox. */
  readonly options: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Every form that came, oldest first. */
  readonly requests: readonly Readonly<Record<string, string>>[];
  /** How long new access tokens are said to be good. */
  expiresInSeconds: number;
  /** Whether each answer brings a new refresh token, after which the one before is not taken any more. */
  rotates: boolean;
  /** Access tokens that were given out are not taken any more. */
  revokeAccess(): void;
  /** The owner of the mailbox has taken the permission back. */
  revokeAll(): void;
  /** The next answer, instead of a token. */
  answerNext(status: number, body: string): void;
}

const client = { id: 'simulated-client', secret: 'simulated-client-secret-CCCC' };

const readForm = async (request: IncomingMessage): Promise<Readonly<Record<string, string>>> => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return Object.fromEntries(new URLSearchParams(body));
};

export const startTokenServer = async (): Promise<TokenServer> => {
  const requests: Readonly<Record<string, string>>[] = [];
  const access = new Set<string>();
  const planned: { readonly status: number; readonly body: string }[] = [];
  const refresh = new Set(['simulated-refresh-token-DDDD']);
  let count = 0;

  const grant = (form: Readonly<Record<string, string>>): { readonly status: number; readonly body: string } => {
    const refuse = (error: string) => ({ status: error === 'invalid_client' ? 401 : 400, body: JSON.stringify({ error, error_description: 'simulated' }) });
    if (form['client_id'] !== client.id || form['client_secret'] !== client.secret) return refuse('invalid_client');
    if (form['grant_type'] !== 'refresh_token') return refuse('unsupported_grant_type');
    if (!refresh.has(form['refresh_token'] ?? '')) return refuse('invalid_grant');
    const token = `simulated-access-token-${(count += 1)}`;
    access.add(token);
    const next = server.rotates ? `simulated-refresh-token-${count}` : undefined;
    if (next !== undefined) {
      refresh.clear();
      refresh.add(next);
    }
    return { status: 200, body: JSON.stringify({ access_token: token, expires_in: server.expiresInSeconds, token_type: 'Bearer', ...(next !== undefined && { refresh_token: next }) }) };
  };

  const http = await startSimulatorServer(
    {
      async handle(request, response) {
        const form = await readForm(request);
        requests.push(form);
        const { status, body } = planned.shift() ?? grant(form);
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      },
    },
    0,
  );
  const server: TokenServer = {
    options: { client_id: client.id, client_secret: client.secret, refresh_token: 'simulated-refresh-token-DDDD', token_url: `http://127.0.0.1:${http.port}/token` },
    secrets: [client.secret, 'simulated-refresh-token', 'simulated-access-token'],
    requests,
    expiresInSeconds: 3600,
    rotates: false,
    accepts: (token) => access.has(token),
    revokeAccess: () => access.clear(),
    revokeAll() {
      access.clear();
      refresh.clear();
    },
    answerNext: (status, body) => void planned.push({ status, body }),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
  return server;
};
