import { cp, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isCredential } from '../../agent/approvals/path-classes.ts';

/** What of an agent can be copied. Secrets, conversations and scheduled jobs never are. */
export const copyableParts = ['soul', 'skills', 'memory'] as const;

export type CopyablePart = (typeof copyableParts)[number];

const names: Readonly<Record<CopyablePart, string>> = { soul: 'SOUL.md', skills: 'skills', memory: 'memories' };

/** A link may lead anywhere, and what looks like a credential is one. */
const mayCopy = async (path: string): Promise<boolean> => {
  const facts = await lstat(path);
  return (facts.isFile() || facts.isDirectory()) && !isCredential(path) && !basename(path).endsWith('.lock');
};

const exists = (path: string): Promise<boolean> => stat(path).then(() => true, () => false);

/** Copies parts of one agent's folder into another's, and answers what was there to copy. What the other has already is left as it is. */
export const copyAgent = async (from: string, to: string, parts: readonly CopyablePart[]): Promise<readonly string[]> => {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const copied: string[] = [];
  for (const name of parts.map((part) => names[part])) {
    if (!(await exists(join(from, name)))) continue;
    await cp(join(from, name), join(to, name), { recursive: true, force: false, filter: mayCopy });
    copied.push(name);
  }
  return copied;
};

/** Whether an earlier agent of the same name has left something. */
export const isInUse = async (folder: string): Promise<boolean> => (await readdir(folder).catch(() => [])).length > 0;
