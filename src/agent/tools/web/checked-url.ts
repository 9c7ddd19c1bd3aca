import { isIP } from 'node:net';
import { ToolError } from '../contract.ts';
import { addressKind } from './address-kind.ts';
import { hostOf, isBlocked, isOpened } from './host-rules.ts';
import type { Host } from './host-rules.ts';
import type { WebOptions } from './options.ts';

export type HostSettings = Pick<WebOptions, 'allow_private_hosts' | 'blocked_hosts'>;

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. Rejects when it has none. */
export type Lookup = (name: string) => Promise<readonly Address[]>;

const refuse = (what: string): ToolError => new ToolError('bad_arguments', what);

/** Services below 1024 other than the web's own speak protocols that a page must not reach. */
const isWebPort = (port: string): boolean => port === '80' || port === '443' || Number(port) >= 1024;

/** Reads an address that may be opened as far as its text tells. Throws a `ToolError` otherwise. */
export const parseWebUrl = (text: string, settings: HostSettings): URL => {
  const trimmed = text.trim();
  const url = URL.parse(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[:/?#]|$)/i.test(trimmed) ? `https://${trimmed}` : trimmed);
  if (url === null) throw refuse(`${JSON.stringify(trimmed.slice(0, 200))} is no web address.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse(`Only http and https addresses can be opened, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '') throw refuse('An address must not contain a user name or password.');
  const host = hostOf(url);
  if (isBlocked(host, settings.blocked_hosts)) throw new ToolError('unavailable', `${host.name} is closed by the owner (\`web.blocked_hosts\`).`);
  if (!isWebPort(host.port) && !isOpened(host, settings.allow_private_hosts)) throw refuse(`Port ${host.port} is no port of the web.`);
  return url;
};

/** A literal address that the owner opened word for word may be anything; a name that was opened may only be private. */
const mayConnect = ({ address }: Address, host: Host, opened: boolean): boolean => {
  const kind = addressKind(address);
  return kind === 'public' || (opened && (kind === 'private' || host.name === address));
};

/**
 * Resolves the host of an address once, and answers where to connect: exactly these addresses and no other. Throws a `ToolError` when
 * one of them is not public, so that a name with one good and one bad address opens nothing.
 */
export const checkedAddresses = async (url: URL, settings: HostSettings, lookup: Lookup): Promise<readonly Address[]> => {
  const host = hostOf(url);
  const family = isIP(host.name);
  const addresses = family === 4 || family === 6 ? [{ address: host.name, family } as const] : await resolveName(host.name, lookup);
  const opened = isOpened(host, settings.allow_private_hosts);
  if (addresses.every((address) => mayConnect(address, host, opened))) return addresses;
  throw new ToolError('unavailable', `${host.name} is not on the public internet. The owner can open it with \`web.allow_private_hosts\`.`);
};

const resolveName = async (name: string, lookup: Lookup): Promise<readonly Address[]> => {
  try {
    const addresses = await lookup(name);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new ToolError('failed', `The name ${name} cannot be resolved.`, { cause: error });
  }
  throw new ToolError('failed', `The name ${name} has no address.`);
};
