import { isRecord } from '../plain-json.ts';

/** A secret that stands in the configuration itself or in one of its variables. `elsewhere`: in a file, a command, or a variable that is not there. */
export const secretIn = (value: unknown, variables: ReadonlyMap<string, string>): string | 'elsewhere' | undefined => {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return /^\$\{\w+\}$/.test(value.trim()) ? 'elsewhere' : value.trim();
  if (!isRecord(value)) return 'elsewhere';
  return (value['source'] === 'env' ? variables.get(String(value['id'])) : undefined) ?? 'elsewhere';
};
