const ownNames: readonly string[] = ['localhost', '[::1]'];

/** The server at an address, the same however that is written: the case of its name, its usual port, a path, a name of this machine make no other. */
export const serverOf = (address: string): string => {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (ownNames.includes(url.hostname)) url.hostname = '127.0.0.1';
  return url.origin;
};
