import { z } from 'zod';
import type { HttpOptions } from '../../http/options.ts';
import { reachableUrl } from '../../http/reachable-url.ts';

const answerMs = 2_000;

const answer = z.object({ ready: z.boolean(), pid: z.number(), accounts: z.array(z.object({ account: z.string(), state: z.string(), detail: z.string().optional(), code: z.string().optional(), required: z.boolean().optional() })) });

/** What a running gateway says about itself, which is newer than what it has stored when it cannot write. */
export type SaidReady = z.infer<typeof answer>;

/** Undefined when nobody says so: it listens elsewhere, does not answer in time, or tells nothing to whoever asks from here. Where a setting has changed since its start, another gateway may answer; `pid` tells. */
export const askReady = async (http: Pick<HttpOptions, 'host' | 'port'>): Promise<SaidReady | undefined> => {
  if (http.port === 0) return undefined;
  const said: unknown = await fetch(`${reachableUrl(http.host, http.port)}/ready`, { signal: AbortSignal.timeout(answerMs), redirect: 'error' })
    .then((response) => response.json())
    .catch(() => undefined);
  return answer.safeParse(said).data;
};
