import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../node_modules/.cache/hermes-gateway', import.meta.url));
const flushAfterMs = 5_000;

/**
 * Keeps compiled code beside the package, so that a start neither strips types nor compiles again. Written a while after the start,
 * because a process that is killed writes nothing at its end. Where the package cannot be written, the system's temporary folder serves.
 */
export const openCompileCache = () => {
  const { FAILED } = nodeModule.constants.compileCacheStatus;
  if (nodeModule.enableCompileCache(folder).status === FAILED) nodeModule.enableCompileCache();
  setTimeout(() => nodeModule.flushCompileCache(), flushAfterMs).unref();
};

/**
 * Writes what is new and lets go of the rest. Until then Node keeps every file of the cache that it has read in memory, and what is loaded meanwhile lies between them: given back
 * later, that room is too scattered to leave the process. Called after a large step of loading, the next step uses it again: 9 MB less for a gateway, for a millisecond.
 */
export const releaseCompileCache = () => nodeModule.flushCompileCache();
