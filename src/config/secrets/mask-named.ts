import { soundsSecret } from '../variables.ts';

/** A text without the values of keys that sound like secrets, for what no schema knows. */
export const maskNamed = (line: string): string =>
  line.replaceAll(/([A-Za-z_][\w-]*)(['"]?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,}\]]+)/g, (all: string, key: string, between: string) => (soundsSecret(key) ? `${key}${between}***` : all));
