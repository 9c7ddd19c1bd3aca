import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { randomBytes } from 'node:crypto';
import type { LoginFile } from './login-file.ts';
import type { McpServerOptions } from './options.ts';

type OAuthOptions = McpServerOptions['oauth'];

/** How a person is brought to a login page and back. */
export interface Browser {
  /** On this machine. */
  readonly redirectUrl: string;
  /** Shows the address to the person and waits for what the login server sends back. */
  visit(url: URL, signal: AbortSignal): Promise<URLSearchParams>;
}

/** The login to one server. */
export interface Login {
  readonly provider: OAuthClientProvider;
  /** Where a person has to go, once the server has refused us. */
  address(): URL | undefined;
  /** Comes back with the person; anything else is somebody else's login. */
  readonly state: string | undefined;
}

const clientName = 'Hermes gateway';

/** Adds what the owner wants to what the server wants. */
const withScope = (url: URL, scope: string | undefined): URL => {
  if (scope === undefined) return url;
  const wanted = new Set(`${url.searchParams.get('scope') ?? ''} ${scope}`.split(' ').filter((each) => each !== ''));
  const changed = new URL(url);
  changed.searchParams.set('scope', [...wanted].join(' '));
  return changed;
};

/** A person logs in; what they were given is kept in `file` and renewed by itself. Without a browser only what is kept is used. */
export const personalLogin = (options: OAuthOptions, file: LoginFile, redirectUrl: string | undefined): Login => {
  let address: URL | undefined;
  let verifier = '';
  let discovery: Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0] | undefined;
  const backTo = redirectUrl ?? 'http://127.0.0.1/callback';
  const state = randomBytes(16).toString('base64url');

  const provider: OAuthClientProvider = {
    redirectUrl: backTo,
    ...(options.client_metadata_url !== undefined && { clientMetadataUrl: options.client_metadata_url }),
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [backTo],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(options.scope !== undefined && { scope: options.scope }),
    },
    state: () => state,
    async clientInformation() {
      if (options.client_id !== undefined) {
        return { client_id: options.client_id, ...(options.client_secret !== undefined && { client_secret: options.client_secret }), ...(options.issuer !== undefined && { issuer: options.issuer }) };
      }
      const stored = await file.read();
      return redirectUrl === undefined || stored.redirectUrl === redirectUrl ? stored.client : undefined;
    },
    saveClientInformation: (client) => file.write({ client, redirectUrl: backTo }),
    tokens: async () => (await file.read()).tokens,
    saveTokens: (tokens) => file.write({ tokens }),
    redirectToAuthorization(url) {
      address = withScope(url, options.scope);
    },
    saveCodeVerifier(value) {
      verifier = value;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(value) {
      discovery = value;
    },
    discoveryState: () => discovery,
    async invalidateCredentials(scope) {
      if (scope === 'discovery' || scope === 'all') discovery = undefined;
      if (scope === 'all' || scope === 'client') await file.write({ client: undefined });
      if (scope === 'all' || scope === 'tokens') await file.write({ tokens: undefined });
    },
  };
  return { provider, address: () => address, state };
};

/** The gateway logs in by itself, with what the owner has registered. */
export const ownLogin = async (options: OAuthOptions): Promise<Login> => {
  const { ClientCredentialsProvider, PrivateKeyJwtProvider } = await import('@modelcontextprotocol/client');
  const { client_id: clientId = '', client_secret: clientSecret = '', private_key: privateKey, algorithm, scope, issuer } = options;
  const common = { clientId, clientName, ...(scope !== undefined && { scope }), ...(issuer !== undefined && { expectedIssuer: issuer }) };
  const provider = privateKey === undefined ? new ClientCredentialsProvider({ ...common, clientSecret }) : new PrivateKeyJwtProvider({ ...common, privateKey, algorithm });
  return { provider, address: () => undefined, state: undefined };
};
