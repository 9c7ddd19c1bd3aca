import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { isIP } from 'node:net';
import { isLoopback, normaliseAddress } from './address.ts';

/** What the server binds to a request; absent where the app is called without a socket. */
export interface HttpEnv {
  readonly Bindings: Partial<HttpBindings>;
}

/** Who asks, as far as the connection and trusted proxies tell. */
export interface Client {
  readonly address: string;
  readonly secure: boolean;
  /** Came from this machine under a loopback name and through no proxy or tunnel. */
  readonly local: boolean;
}

/** Splits `name:port` and `[v6]:port`; undefined for what is neither. */
export const parseHost = (header: string | undefined): { readonly name: string; readonly port: string | undefined } | undefined => {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(header ?? '');
  if (match === null) return undefined;
  if (match[1] !== undefined && isIP(match[1]) !== 6) return undefined;
  return { name: (match[1] ?? match[2] ?? '').toLowerCase(), port: match[3] };
};

export const isLoopbackName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost') || isLoopback(name);

const proxyHeaders = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via', 'cf-connecting-ip'];

/** The nearest address that is not one of our proxies: what stands further left, anybody may have written. */
const forwardedAddress = (header: string, proxies: ReadonlySet<string>): string | undefined =>
  header
    .split(',')
    .map((part) => normaliseAddress(part.trim()))
    .toReversed()
    .find((address) => !proxies.has(address));

export const clientOf = (c: Context<HttpEnv>, trustedProxies: readonly string[]): Client => {
  const socket = c.env?.incoming?.socket;
  const peer = normaliseAddress(socket?.remoteAddress ?? '');
  const proxies = new Set(trustedProxies.map(normaliseAddress));
  const trusted = proxies.has(peer);
  const forwarded = trusted ? forwardedAddress(c.req.header('x-forwarded-for') ?? '', proxies) : undefined;
  const host = parseHost(c.req.header('host'));
  return {
    address: forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : peer,
    secure: trusted && c.req.header('x-forwarded-proto') === 'https',
    local: isLoopback(peer) && host !== undefined && isLoopbackName(host.name) && proxyHeaders.every((name) => c.req.header(name) === undefined),
  };
};

/**
 * Where a call comes from, to count wrong signatures by. Behind a tunnel on this machine that nobody has named as trusted, what the tunnel says is good
 * enough for counting: otherwise one forger would shut the door for everybody.
 */
export const callerAddress = (c: Context<HttpEnv>, trustedProxies: readonly string[]): { readonly address: string; /** Whose word the address is. */ readonly tunnel?: string } => {
  const { address } = clientOf(c, trustedProxies);
  if (!isLoopback(address)) return { address };
  const told = forwardedAddress(c.req.header('x-forwarded-for') ?? '', new Set());
  return told !== undefined && isIP(told) !== 0 ? { address: told, tunnel: address } : { address };
};
