/** One spelling of an address: without the spaces around it, in lower case. */
export const canonicalAddress = (address: string): string => address.trim().toLowerCase();

/** Empty for what is no address. */
export const domainOf = (address: string): string => (address.includes('@') ? address.slice(address.lastIndexOf('@') + 1).toLowerCase() : '');

/** `agent+anything@example.org` is delivered to `agent@example.org`. */
export const withoutTag = (address: string): string => canonicalAddress(address).replace(/\+[^@]*(?=@)/, '');

/** Whether an address is one of ours, with or without a tag behind a plus. */
export const isOwnAddress = (address: string, own: readonly string[]): boolean => {
  const bare = withoutTag(address);
  return own.some((each) => each === canonicalAddress(address) || withoutTag(each) === bare);
};

/** An address a person or a job has written down as a target. */
export const addressShape = /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/;
