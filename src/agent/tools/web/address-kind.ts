import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** `private` may be opened by the owner for a host; `forbidden` (link-local and metadata addresses, multicast, reserved) is no place for anybody. */
export type AddressKind = 'public' | 'private' | 'forbidden';

const listOf = (family: 'ipv4' | 'ipv6', ...subnets: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = '', prefix = ''] = subnet.split('/');
    list.addSubnet(net, Number(prefix), family);
  }
  return list;
};

const private4 = listOf('ipv4', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15');
/** 168.63.129.16 and 100.100.100.200 are what Azure and Alibaba give their machines for metadata. */
const forbidden4 = listOf(
  'ipv4', '0.0.0.0/8', '100.100.100.200/32', '168.63.129.16/32', '169.254.0.0/16', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
);
const private6 = listOf('ipv6', '::1/128', 'fc00::/7');
/** fd00:ec2::/32 is Amazon's metadata; the rest of 2000::/3 that is no ordinary address: tunnels that carry an IPv4 address, and examples. */
const forbidden6 = listOf('ipv6', 'fd00:ec2::/32', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');
const global6 = listOf('ipv6', '2000::/3');
/** Forms in which a translator or the system itself means an IPv4 address. */
const carries4 = listOf('ipv6', '::ffff:0:0/96', '64:ff9b::/96');

/** The last 32 bits of an IPv6 address, in dotted form. */
const last32 = (address: string): string => {
  const canonical = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? '';
  const [head = '', tail] = canonical.split('::');
  const after = tail === undefined ? head.split(':') : tail.split(':').filter((group) => group !== '');
  const [high = 0, low = 0] = ['0', '0', ...after].slice(-2).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
};

/** What kind of place an IP address is. Anything that is not plainly public is not. */
export const addressKind = (address: string): AddressKind => {
  if (isIPv4(address)) return forbidden4.check(address) ? 'forbidden' : private4.check(address) ? 'private' : 'public';
  if (!isIPv6(address) || address.includes('%')) return 'forbidden';
  if (carries4.check(address, 'ipv6')) return addressKind(last32(address));
  if (forbidden6.check(address, 'ipv6')) return 'forbidden';
  if (private6.check(address, 'ipv6')) return 'private';
  return global6.check(address, 'ipv6') ? 'public' : 'forbidden';
};
