import { ToolError } from '../agent/tools/contract.ts';
import { guardedFiles, identityOf } from '../agent/tools/files/guarded-files.ts';
import { openFile } from '../agent/tools/files/open-file.ts';
import type { OpenFile } from '../agent/tools/files/open-file.ts';
import { decidePath, isInside } from '../agent/tools/files/path-policy.ts';
import type { FileVerdict, PathPolicy } from '../agent/tools/files/path-policy.ts';
import { absolutePath, findRealPath } from '../agent/tools/files/resolve-path.ts';

export interface SendableDeps {
  /** The gateway's home, and the home of the agent that sends; for the main agent they are one. */
  readonly home: string;
  readonly agentHome: string;
  /** Homes of the other agents, whose files are never sent. */
  readonly otherHomes?: readonly string[];
  readonly userHome: string;
  /** Where relative paths begin. */
  readonly workdir: string;
  /** The folders whose files may leave the machine. Neither home is among them by itself. */
  readonly roots: readonly string[];
}

/** A folder that cannot be found opens nothing. */
const realFolders = async (deps: SendableDeps, folders: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.allSettled(folders.map((folder) => findRealPath(absolutePath(folder, deps))));
  return found.flatMap((each) => (each.status === 'fulfilled' ? [each.value.real] : []));
};

const refuseUnlessAllowed = (verdict: FileVerdict): void => {
  if (verdict.type !== 'allowed') throw new ToolError('unavailable', `it ${verdict.reason}.`);
};

/** A folder around a home does not open the home: only one that lies in it does. */
const isOpenedBy = (root: string, real: string, homes: readonly string[]): boolean => isInside(root, real) && homes.every((home) => !isInside(home, real) || (root !== home && isInside(home, root)));

/**
 * Opens a file that may be sent to people: it lies in one of the folders after every link is followed, and holds no credentials under any
 * name. Throws a `ToolError` with the reason otherwise. The caller closes it.
 */
export const openSendable = async (path: string, deps: SendableDeps): Promise<OpenFile> => {
  const [roots, [home], [agentHome], [userHome]] = await Promise.all([realFolders(deps, deps.roots), realFolders(deps, [deps.home]), realFolders(deps, [deps.agentHome]), realFolders(deps, [deps.userHome])]);
  const otherHomes = await realFolders(deps, deps.otherHomes ?? []);
  if (home === undefined || agentHome === undefined || userHome === undefined) throw new ToolError('unavailable', 'The folders of the gateway cannot be found. The owner has to look at them.');
  const policy: PathPolicy = { home, agentHome, otherHomes, userHome, writable: roots, readable: [] };
  const found = await findRealPath(absolutePath(path, deps));
  if (!roots.some((root) => isOpenedBy(root, found.real, [home, agentHome]))) throw new ToolError('unavailable', 'it lies outside the folders whose files may be sent. Put it into the workspace.');
  refuseUnlessAllowed(decidePath(found, 'read', policy));
  const opened = await openFile(found.real, path);
  try {
    // The same file may have another name in one of the folders.
    if ((await guardedFiles(policy)).has(identityOf(opened.stats))) throw new ToolError('unavailable', 'it belongs to the gateway or holds credentials.');
    return opened;
  } catch (error) {
    await opened.handle.close();
    throw error;
  }
};
