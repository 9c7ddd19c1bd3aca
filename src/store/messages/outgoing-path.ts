import { join } from 'node:path';

/** Where a file that was made to be sent is in a home that was moved since; undefined for what is none of ours. */
export const outgoingPath = (mediaFolder: string, path: string): string | undefined => {
  const below = /[/\\]media[/\\]((?:outgoing|spoken)[/\\].+)$/s.exec(path)?.[1];
  return below === undefined || below.includes('..') ? undefined : join(mediaFolder, below);
};
