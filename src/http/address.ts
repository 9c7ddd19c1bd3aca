import { isIP } from 'node:net';

const mapped = /^(?:0*:)*(?:0*:)*ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/;

const groupsOf = (address: string): readonly string[] => {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  if (tail === undefined) return left;
  const right = tail === '' ? [] : tail.split(':');
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
};

const dotted = (high: string, low: string): string => {
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`;
};

/** One spelling per address: lower case, no zone, and an IPv4 address that came as IPv6 is IPv4 again. */
export const normaliseAddress = (address: string): string => {
  const plain = (address.split('%')[0] ?? '').toLowerCase();
  if (isIP(plain) !== 6) return plain;
  const asMapped = mapped.exec(plain);
  if (asMapped !== null) return asMapped[1] ?? dotted(asMapped[2] ?? '0', asMapped[3] ?? '0');
  return groupsOf(plain)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
};

/** Whoever owns an IPv6 network has all its addresses, so they are counted as one. */
export const networkOf = (address: string): string => {
  const normal = normaliseAddress(address);
  return isIP(normal) === 6 ? `${normal.split(':').slice(0, 4).join(':')}::/64` : normal;
};

export const isLoopback = (address: string): boolean => {
  const normal = normaliseAddress(address);
  return normal === '0:0:0:0:0:0:0:1' || (isIP(normal) === 4 && normal.startsWith('127.'));
};
