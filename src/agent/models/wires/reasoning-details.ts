import { listOf, recordOf } from './json-fields.ts';

type Detail = Record<string, unknown>;

/** Puts OpenRouter's `reasoning_details` together from the pieces in which a stream delivers them. */
export interface ReasoningDetails {
  take(list: unknown): void;
  /** In the order in which they began; undefined when there were none. */
  all(): readonly unknown[] | undefined;
}

/** Fields that grow with every piece. */
const growing = ['text', 'summary', 'data'] as const;

export const newReasoningDetails = (): ReasoningDetails => {
  const details: Detail[] = [];
  return {
    take(list) {
      for (const entry of listOf(list) ?? []) {
        const piece = recordOf(entry);
        if (piece === undefined) continue;
        const last = details.at(-1);
        if (last === undefined || last['type'] !== piece['type'] || last['index'] !== piece['index']) {
          details.push({ ...piece });
          continue;
        }
        for (const [field, value] of Object.entries(piece)) {
          const before = last[field];
          const grows = growing.some((name) => name === field) && typeof before === 'string' && typeof value === 'string';
          if (value !== null && value !== undefined) last[field] = grows ? before + value : value;
        }
      }
    },
    all: () => (details.length === 0 ? undefined : details),
  };
};
