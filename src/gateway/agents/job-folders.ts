import { access, constants, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { readProjectContext } from '../../agent/context-files.ts';
import type { ContextFile } from '../../agent/context-files.ts';
import { ToolError } from '../../agent/tools/contract.ts';
import { fileProblem } from '../../agent/tools/files/file-problem.ts';
import { decidePath, isInside } from '../../agent/tools/files/path-policy.ts';
import type { PathPolicy, TwoPaths } from '../../agent/tools/files/path-policy.ts';
import { absolutePath, findRealPath } from '../../agent/tools/files/resolve-path.ts';
import type { FoundFolder } from '../../cron/job-request.ts';
import { homeOfAgent } from '../../routing/agent-home.ts';
import type { GatewaySettings } from '../settings.ts';
import { homesOfOthers } from './closed-folders.ts';
import { folderOfProgram, workspaceOf } from './work-folders.ts';

export interface JobFoldersDeps {
  readonly home: string;
  readonly userHome: string;
  settings(): GatewaySettings;
}

interface AllowedFolder {
  readonly path: string;
  readonly real: string;
  /** The widest of the allowed folders that it lies in. */
  readonly root: string;
}

/** Under both names, where a link leads to it; one that cannot be found opens nothing. */
const withReal = async (paths: readonly string[], userHome: string): Promise<readonly string[]> => {
  const found = await Promise.allSettled(paths.map(async (path) => findRealPath(absolutePath(path, { workdir: '/', userHome }))));
  return [...new Set(found.flatMap((each) => (each.status === 'fulfilled' ? [each.value.lexical, each.value.real] : [])))];
};

const realOf = async (path: string): Promise<string> => (await findRealPath(path)).real;

/** What the file tools of an agent may read, in every conversation. */
const policyOf = async ({ home, userHome, settings }: JobFoldersDeps, id: string): Promise<PathPolicy> => {
  const agentHome = homeOfAgent(home, id, settings().agents[id]);
  const place = { agentHome, userHome, settings };
  const { roots, read_roots } = settings().files;
  const own = [agentHome, workspaceOf(place), folderOfProgram(place, id) ?? agentHome];
  const [writable, readable, otherHomes] = await Promise.all([
    withReal([...own, ...roots], userHome),
    withReal(read_roots, userHome),
    withReal(homesOfOthers({ id, home, agentHome, settings }), userHome),
  ]);
  return { home: await realOf(home), agentHome: await realOf(agentHome), userHome, otherHomes, writable, readable };
};

const refuse = (reason: string): never => {
  throw new ToolError('bad_arguments', reason);
};

const checked = (paths: TwoPaths, written: string, policy: PathPolicy): void => {
  const verdict = decidePath(paths, 'read', policy);
  if (verdict.type !== 'allowed') refuse(`The folder ${written} ${verdict.reason}.`);
};

/** Whether it is a folder, and one that can be entered. */
const isFolder = async (path: string): Promise<boolean> => {
  try {
    if (!(await stat(path)).isDirectory()) return false;
    await access(path, constants.R_OK | constants.X_OK);
    return true;
  } catch (error) {
    throw fileProblem(error, path);
  }
};

/** Throws a `ToolError` with the reason. What is closed is refused before the file system is asked about it. */
const allowedFolder = async (deps: JobFoldersDeps, id: string, written: string): Promise<AllowedFolder> => {
  if (!isAbsolute(written) && !/^~(?:\/|$)/.test(written)) refuse(`The folder of a job is an absolute path such as /home/ada/project, not ${JSON.stringify(written.slice(0, 200))}.`);
  const path = absolutePath(written, { workdir: '/', userHome: deps.userHome });
  const policy = await policyOf(deps, id);
  checked({ lexical: path, real: path }, written, policy);
  const { real, exists } = await findRealPath(path);
  checked({ lexical: path, real }, written, policy);
  if (!exists) refuse(`The folder ${written} does not exist. Make it, or name another.`);
  if (!(await isFolder(real))) refuse(`${written} is no folder. Name the folder that it lies in.`);
  const roots = [...policy.writable, ...policy.readable].filter((root) => isInside(root, real));
  return { path, real, root: roots.toSorted((a, b) => a.length - b.length)[0] ?? real };
};

/** Finds the folder that a job of an agent is to work in: one whose files the agent may read anyway. */
export const jobFolders =
  (deps: JobFoldersDeps): ((agent: string, written: string) => Promise<FoundFolder>) =>
  async (agent, written) => {
    try {
      const { path, real } = await allowedFolder(deps, agent, written.trim());
      return { type: 'found', path, real };
    } catch (error) {
      if (error instanceof ToolError) return { type: 'problem', problem: error.message };
      throw error;
    }
  };

/** What the project in the folder of a job says about itself; nothing when the folder is not what it was any more. */
export const contextOfJob = async (deps: JobFoldersDeps, agent: string, workdir: string): Promise<ContextFile | undefined> => {
  try {
    const { real, root } = await allowedFolder(deps, agent, workdir);
    return await readProjectContext(real, root);
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
};
