import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../variables.ts';

/** Where a secret is that the configuration does not hold itself. */
export type SecretSource = { readonly kind: 'file'; /** Absolute. */ readonly path: string } | { readonly kind: 'command'; readonly command: string };

export type SecretReading =
  | { readonly ok: true; readonly value: string; /** Other users of the machine can read it too. */ readonly exposed: boolean }
  | { readonly ok: false; /** Never holds anything of the secret. */ readonly message: string };

/** What was read, by `sourceKey`. */
export type SecretReadings = ReadonlyMap<string, SecretReading>;

export const sourceKey = (source: SecretSource): string => (source.kind === 'file' ? `file ${source.path}` : `command ${source.command}`);

/** For people: a file by its path; a command without its words, among which a careless owner may have put a secret. */
export const sourceText = (source: SecretSource): string => (source.kind === 'file' ? `file ${source.path}` : 'command');

/** The endings of keys and variables that name a source instead of holding a value. */
export const sourceEndings = [
  { key: '_file', variable: '_FILE', kind: 'file' },
  { key: '_cmd', variable: '_CMD', kind: 'command' },
] as const satisfies readonly { readonly key: string; readonly variable: string; readonly kind: SecretSource['kind'] }[];

/** The sources that one evaluation comes across. */
export interface SecretSources {
  /** What is written after `_file` or `_cmd`, as a source. */
  sourceOf(kind: SecretSource['kind'], written: string): SecretSource;
  /** What is known of a source; it is noted that somebody asked. */
  read(source: SecretSource): SecretReading;
  readonly asked: readonly SecretSource[];
  /** How often somebody asked. */
  readonly count: number;
}

/** A path of the configuration: `~` is the user's own folder, and what is relative stands in the home. */
const absolutePath = (written: string, options: { readonly home: string | undefined; readonly env: Environment }): string => {
  const own = (options.env['HOME'] ?? '') === '' ? homedir() : (options.env['HOME'] ?? '');
  if (written === '~' || written.startsWith('~/')) return join(own, written.slice(1));
  return isAbsolute(written) || options.home === undefined ? resolve(written) : resolve(options.home, written);
};

export const newSecretSources = (options: { readonly readings: SecretReadings; readonly home: string | undefined; readonly env: Environment }): SecretSources => {
  const asked = new Map<string, SecretSource>();
  let count = 0;
  return {
    sourceOf: (kind, written) => (kind === 'file' ? { kind, path: absolutePath(written, options) } : { kind, command: written }),
    read(source) {
      count += 1;
      asked.set(sourceKey(source), source);
      return options.readings.get(sourceKey(source)) ?? { ok: false, message: `the ${sourceText(source)} was not asked` };
    },
    get asked() {
      return [...asked.values()];
    },
    get count() {
      return count;
    },
  };
};
