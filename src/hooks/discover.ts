import { constants } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { errorCode } from './error-code.ts';
import { readManifest } from './manifest.ts';
import type { HookManifest } from './manifest.ts';

/** A folder with one folder per hook. Those of an agent see the events of that agent only. */
export interface HookFolder {
  readonly path: string;
  readonly agent?: string;
}

/** How a handler is called: imported into a thread, run as a program, or through Python as a module with a function `handle`. */
export type HandlerKind = 'module' | 'program' | 'python';

export interface FoundHook {
  /** The name of its folder; with the agent's in front, where it is an agent's. */
  readonly id: string;
  readonly agent: string | undefined;
  readonly folder: string;
  readonly manifest: HookManifest;
  readonly handler: { readonly kind: HandlerKind; readonly path: string };
}

export interface BrokenHook {
  readonly id: string;
  readonly agent: string | undefined;
  readonly folder: string;
  readonly problem: string;
}

const modules = new Set(['.ts', '.mts', '.js', '.mjs', '.cjs']);
const mostManifestBytes = 64 * 1024;

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error));

const isProgram = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EACCES') return false;
    throw error;
  }
};

/** The one file that is the hook's code, or why there is none. */
const findHandler = async (folder: string): Promise<FoundHook['handler'] | { readonly problem: string }> => {
  const names = (await readdir(folder)).filter((name) => /^handler(?:\.[A-Za-z0-9]+)?$/.test(name)).toSorted();
  const [name, ...others] = names;
  if (name === undefined) return { problem: 'there is no handler beside HOOK.yaml: handler.ts, handler.js, handler.py, or a program called handler' };
  if (others.length > 0) return { problem: `there are several handlers, and one is needed: ${names.join(', ')}` };
  const path = join(folder, name);
  if (modules.has(extname(name))) return { kind: 'module', path };
  if (await isProgram(path)) return { kind: 'program', path };
  return extname(name) === '.py' ? { kind: 'python', path } : { problem: `${name} cannot be run: chmod +x ${path}` };
};

/** Undefined where there is no hook at all. */
const examine = async (at: Pick<FoundHook, 'id' | 'agent' | 'folder'>): Promise<FoundHook | BrokenHook | undefined> => {
  const file = join(at.folder, 'HOOK.yaml');
  try {
    if ((await stat(file)).size > mostManifestBytes) return { ...at, problem: 'HOOK.yaml is larger than 64 KB' };
    const manifest = readManifest(await readFile(file, 'utf8'));
    if ('problem' in manifest) return { ...at, problem: manifest.problem };
    const handler = await findHandler(at.folder);
    return 'problem' in handler ? { ...at, problem: handler.problem } : { ...at, manifest, handler };
  } catch (error) {
    return isMissing(error) ? undefined : { ...at, problem: `it cannot be read (${errorCode(error)})` };
  }
};

/** Every hook of a folder in the order of their names, and what is wrong with those that cannot be used. A folder without `HOOK.yaml` is none. */
export const discoverHooks = async ({ path, agent }: HookFolder): Promise<readonly (FoundHook | BrokenHook)[]> => {
  let names: string[];
  try {
    names = await readdir(path);
  } catch (error) {
    if (isMissing(error)) return [];
    return [{ id: agent ?? 'hooks', agent, folder: path, problem: `the folder cannot be read (${errorCode(error)})` }];
  }
  const hooks = names.filter((name) => !/^[._]/.test(name)).toSorted();
  const found = await Promise.all(hooks.map((name) => examine({ id: agent === undefined ? name : `${agent}/${name}`, agent, folder: join(path, name) })));
  return found.filter((hook) => hook !== undefined);
};
