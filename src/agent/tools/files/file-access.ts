import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { relative } from 'node:path';
import { newSlots } from '../../../lib/slots.ts';
import type { Slots } from '../../../lib/slots.ts';
import type { Approver } from '../../approvals/contract.ts';
import { resultsFolder } from '../spill-result.ts';
import { ToolError } from '../contract.ts';
import type { ToolContext } from '../contract.ts';
import { guardVerdict, guardedFiles, identityOf } from './guarded-files.ts';
import type { FileIdentity } from './guarded-files.ts';
import { openFile } from './open-file.ts';
import { classifyPath, decidePath, isInside } from './path-policy.ts';
import type { FileUse, FileVerdict, PathPolicy } from './path-policy.ts';
import { newPathLocks } from './path-locks.ts';
import type { PathLocks } from './path-locks.ts';
import { absolutePath, findRealPath } from './resolve-path.ts';
import type { PathBase } from './resolve-path.ts';
import { newSeenFiles } from './seen-files.ts';
import type { SeenFiles } from './seen-files.ts';

/** What the file tools of all agents share: one for the process. */
export interface FileState {
  readonly locks: PathLocks;
  readonly seen: SeenFiles;
  /** Each search is a thread; no more than these at a time. */
  readonly searches: Slots;
}

export const newFileState = (): FileState => ({ locks: newPathLocks(), seen: newSeenFiles(), searches: newSlots(2) });

export interface FileToolsDeps {
  /** The gateway's home, and the home of the agent that acts; for the main agent they are one. */
  readonly home: string;
  readonly agentHome: string;
  /** Homes of the other agents, which stay closed whatever folder they lie in. None that `agentHome` lies in. */
  otherHomes?(): readonly string[];
  /** The folder of the user that the gateway runs as; `~` in paths. */
  readonly userHome: string;
  /** Where relative paths begin, absolute. Being there opens nothing: a command may have gone anywhere. */
  workdir(context: ToolContext): string;
  /** Folders that may be read and written besides the home of the agent, and such that may only be read. */
  readonly roots: readonly string[];
  readonly readRoots: readonly string[];
  /** Folders of the conversation alone, to be read. */
  ownFolders?(context: ToolContext): readonly string[];
  /** When set, nothing is written outside it. */
  readonly writeRoot?: string;
  readonly approve: Approver;
  /** Hides secrets in what is shown. */
  redact(text: string): string;
  readonly state: FileState;
  /** Longest answer of a tool; 90,000 characters when left out. */
  readonly maxChars?: number;
}

type Permission = Exclude<FileVerdict, { readonly type: 'denied' }>;

/** A place that may be used, as far as its path tells. */
export interface Place {
  /** As the model is told about it: relative when it lies in the working folder. */
  readonly shown: string;
  readonly lexical: string;
  readonly real: string;
  readonly exists: boolean;
  readonly use: FileUse;
  readonly permission: Permission;
}

export interface OpenPlace {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
  readonly permission: Permission;
}

/** What one call may touch. */
export interface FileAccess {
  readonly policy: PathPolicy;
  readonly guarded: ReadonlyMap<FileIdentity, string>;
  /** Throws a `ToolError` for what is denied. */
  locate(path: string, use: FileUse): Promise<Place>;
  /** Opens an existing place for reading; the verdict on what was really opened is in `permission`. The caller closes it. */
  open(place: Place): Promise<OpenPlace>;
  show(real: string): string;
}

/** A folder that cannot be found is no allowed folder. */
const realFolder = async (path: string, base: PathBase): Promise<string | undefined> => {
  try {
    return (await findRealPath(absolutePath(path, base))).real;
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
};

const policyFor = async (deps: FileToolsDeps, context: ToolContext, base: PathBase): Promise<PathPolicy> => {
  const real = (path: string): Promise<string | undefined> => realFolder(path, base);
  const all = async (paths: readonly string[]): Promise<readonly string[]> => (await Promise.all(paths.map(real))).filter((path) => path !== undefined);
  const [home, agentHome, userHome] = await Promise.all([deps.home, deps.agentHome, deps.userHome].map(real));
  const own = [resultsFolder(deps.home, context.sessionId), ...(deps.ownFolders?.(context) ?? [])];
  const [writable, readable, otherHomes] = await Promise.all([all([deps.agentHome, ...deps.roots]), all([...own, ...deps.readRoots]), all(deps.otherHomes?.() ?? [])]);
  const writeRoot = deps.writeRoot === undefined ? undefined : await real(deps.writeRoot);
  if (home === undefined || agentHome === undefined || userHome === undefined || (deps.writeRoot !== undefined && writeRoot === undefined)) {
    throw new ToolError('unavailable', 'The folders of the gateway cannot be found. The owner has to look at them.');
  }
  return { home, agentHome, otherHomes, userHome, writable, readable, ...(writeRoot !== undefined && { writeOnlyIn: writeRoot }) };
};

const permitted = (verdict: FileVerdict, shown: string): Permission => {
  if (verdict.type === 'denied') throw new ToolError('unavailable', `${shown} ${verdict.reason}.`);
  return verdict;
};

/** The folders and rules as they are at this moment. */
export const newFileAccess = async (deps: FileToolsDeps, context: ToolContext): Promise<FileAccess> => {
  const base: PathBase = { workdir: deps.workdir(context), userHome: deps.userHome };
  const policy = await policyFor(deps, context, base);
  const guarded = await guardedFiles(policy);
  const workdir = await realFolder(base.workdir, base);
  const show = (real: string): string => (workdir !== undefined && isInside(workdir, real) ? relative(workdir, real) || '.' : real);
  return {
    policy,
    guarded,
    show,
    async locate(path, use) {
      const lexical = absolutePath(path, base);
      const atOnce = classifyPath(lexical, use, policy);
      if (atOnce?.type === 'denied') permitted(atOnce, path);
      const found = await findRealPath(lexical);
      const permission = permitted(decidePath(found, use, policy), path);
      return { ...found, shown: show(found.real), use, permission };
    },
    async open(place) {
      const { handle, stats } = await openFile(place.real, place.shown);
      try {
        const byIdentity = permitted(guardVerdict(identityOf(stats), place.use, { policy, guarded }) ?? place.permission, place.shown);
        return { handle, stats, permission: place.permission.type === 'ask' ? place.permission : byIdentity };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
  };
};
