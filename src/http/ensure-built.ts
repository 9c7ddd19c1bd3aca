import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Logger } from '../lib/logger.ts';
import { scrubbedEnvironment } from '../lib/scrubbed-environment.ts';

/** What the page is made of, below the package's folder. */
const inputs = ['web/index.html', 'web/vite.config.ts', 'web/src', 'web/public', 'src/lib/markdown', 'src/platforms/web/wire.ts'];

const run = promisify(execFile);

const stampName = '.built-from';

/** `unavailable`: there is no page and nothing to build one with. */
export type Built = 'fresh' | 'built' | 'unavailable';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const filesBelow = async (path: string): Promise<readonly string[]> => {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.includes('.test.')).map((entry) => join(entry.parentPath, entry.name));
};

/** A hash over names and contents of the sources; undefined in a package that came without them. */
const hashSources = async (root: string): Promise<string | undefined> => {
  try {
    const files = (await Promise.all(inputs.map((input) => filesBelow(join(root, input))))).flat().toSorted();
    const hash = createHash('sha256');
    for (const file of files) hash.update(`${relative(root, file)}\0`).update(await readFile(file)).update('\0');
    return hash.digest('hex');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const readStamp = async (folder: string): Promise<string | undefined> => {
  try {
    return await readFile(join(folder, stampName), 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};

/** Vite is there for whoever works on the source; a published package has the page already. */
const viteProgram = (): string | undefined => {
  try {
    return fileURLToPath(new URL('bin/vite.js', import.meta.resolve('vite/package.json')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
};

/** Puts the new page in the place of the old one. Another process that did so first with the same sources is as good. */
const swap = async (aside: string, dist: string, stamp: string): Promise<void> => {
  const old = `${aside}-old`;
  try {
    if (await exists(dist)) await rename(dist, old);
    await rename(aside, dist);
  } catch (error) {
    if ((await readStamp(dist)) !== stamp) throw error;
  } finally {
    await rm(old, { recursive: true, force: true });
  }
};

/** Undefined where the package is somebody else's or on a disk that is only read: the page that is there has to do. */
const newFolder = async (root: string): Promise<string | undefined> => {
  try {
    return await mkdtemp(join(root, 'web', '.dist-'));
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

export interface BuildOptions {
  readonly root: string;
  readonly log: Logger;
  /** Of this process. The build gets of it what programs need to find themselves, and no secret. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Builds aside and then swaps, so that a process that starts meanwhile never reads half a page. */
const build = async ({ root, environment }: BuildOptions, dist: string, stamp: string): Promise<boolean> => {
  const vite = viteProgram();
  const aside = vite === undefined ? undefined : await newFolder(root);
  if (vite === undefined || aside === undefined) return false;
  try {
    // In a process of its own: what a build needs in memory would stay with the gateway for good.
    await run(process.execPath, [vite, 'build', join(root, 'web'), '--outDir', aside, '--emptyOutDir', '--logLevel', 'error'], { env: { ...scrubbedEnvironment(environment, { passthrough: [], withheld: new Set() }) } });
    await writeFile(join(aside, stampName), stamp);
    // A temporary folder is its maker's alone; the gateway may run as somebody else.
    await chmod(aside, 0o755);
    await swap(aside, dist, stamp);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return true;
};

/** Builds `web/dist` below the package's folder when its sources have changed. It compares contents, not dates. */
export const ensureBuilt = async (options: BuildOptions): Promise<Built> => {
  const dist = join(options.root, 'web', 'dist');
  const stamp = await hashSources(options.root);
  if (stamp !== undefined && stamp !== (await readStamp(dist))) {
    const startedMs = performance.now();
    if (await build(options, dist, stamp)) {
      options.log.info({ ms: Math.round(performance.now() - startedMs) }, 'page.built');
      return 'built';
    }
    options.log.warn({}, 'page.stale');
  }
  return (await exists(join(dist, 'index.html'))) ? 'fresh' : 'unavailable';
};
