import { fstatSync, ftruncateSync } from 'node:fs';

const mostBytes = 1024 * 1024;

/** Empties what a gateway in the background prints to once it has become long: launchd appends to the same file with every start, and one that cannot start is started every ten seconds. */
export const emptyLongConsole = (output = 1): void => {
  const facts = fstatSync(output);
  if (facts.isFile() && facts.size > mostBytes) ftruncateSync(output);
};
