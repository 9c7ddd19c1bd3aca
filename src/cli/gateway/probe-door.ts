import type { HttpOptions } from '../../http/options.ts';
import { reachableUrl } from '../../http/reachable-url.ts';

const answerMs = 2_000;

/** Who listens where the page of a home is to be. */
type Door =
  | { readonly by: 'nobody' }
  | { readonly by: 'gateway'; readonly version: string; readonly uptimeMs: number }
  | { readonly by: 'stranger' }
  /** Somebody listens, and says nothing. */
  | { readonly by: 'silence' };

const codeOf = (error: unknown): string | undefined => {
  for (let at = error; at instanceof Error; at = at.cause) if ('code' in at && typeof at.code === 'string') return at.code;
  return undefined;
};

/** Asks whoever listens there how it is. Rejects only with the reason of the signal. */
export const probeDoor = async (http: Pick<HttpOptions, 'host' | 'port'>, signal: AbortSignal): Promise<Door> => {
  const late = AbortSignal.timeout(answerMs);
  try {
    const response = await fetch(`${reachableUrl(http.host, http.port)}/health`, { signal: AbortSignal.any([signal, late]), redirect: 'error' });
    const { status, version, uptime_s: uptime } = (await response.json()) as Readonly<Record<string, unknown>>;
    return status === 'ok' && typeof version === 'string' && typeof uptime === 'number' ? { by: 'gateway', version, uptimeMs: uptime * 1000 } : { by: 'stranger' };
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return { by: 'silence' };
    return codeOf(error) === 'ECONNREFUSED' ? { by: 'nobody' } : { by: 'stranger' };
  }
};
