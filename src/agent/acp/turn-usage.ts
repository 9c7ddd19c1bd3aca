import type { Usage } from '../../core/transcript.ts';
import { noUsage } from '../../core/transcript.ts';
import { countOf, recordOf } from '../models/wires/json-fields.ts';

/** What a turn has used, as far as the agent says: tokens with its last word, and what the session's costs have grown by. */
export const usageOf = (answer: unknown, costUsd: { readonly before: number | undefined; readonly after: number | undefined }): Usage | undefined => {
  const told = recordOf(recordOf(answer)?.['usage']);
  const cost = costUsd.before === undefined || costUsd.after === undefined ? undefined : Math.max(0, costUsd.after - costUsd.before);
  if (told === undefined && (cost === undefined || cost === 0)) return undefined;
  const count = (name: string): number => countOf(told?.[name]) ?? 0;
  return {
    ...noUsage,
    inputTokens: count('inputTokens') + count('cachedReadTokens') + count('cachedWriteTokens'),
    outputTokens: count('outputTokens') + count('thoughtTokens'),
    cacheReadTokens: count('cachedReadTokens'),
    cacheWriteTokens: count('cachedWriteTokens'),
    reasoningTokens: count('thoughtTokens'),
    ...(cost !== undefined && cost > 0 && { cost: { usd: cost, status: 'actual' as const } }),
  };
};
