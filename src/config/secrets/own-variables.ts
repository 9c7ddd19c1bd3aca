import { statSync } from 'node:fs';
import type { Redactor } from '../../lib/redact.ts';
import { formatProblem } from '../problem.ts';
import { parseEnvFile } from '../text/parse-env-file.ts';
import { readConfigFile } from '../text/read-config-file.ts';
import { rememberSecret } from './conceal.ts';

/** Shorter values may be ordinary words. */
const leastCharacters = 8;

/** Asked before every turn: two microseconds here, a tenth of a millisecond through the thread pool. */
const stampOf = (path: string): string => {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? '' : [found.mtimeMs, found.size, found.ino, found.mode].join(':');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return '';
  }
};

/**
 * The variables that one `.env` sets. Nothing of the environment or of another file is among them, not even by reference, and every value is made known to
 * the redactor before it can be had.
 */
export class OwnVariables {
  readonly path: string;
  readonly #redactor: Redactor;
  #stamp: string | undefined;
  #values: ReadonlyMap<string, string> = new Map();
  #version = 0;

  constructor(path: string, redactor: Redactor) {
    this.path = path;
    this.#redactor = redactor;
  }

  /** Another number means that something may have changed. */
  get version(): number {
    return this.#version;
  }

  /** A variable that is set to nothing counts as unset. */
  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Reads the file again if it is another one than before; answers what is wrong with it. A file that cannot be read leaves what was known. */
  async refresh(): Promise<readonly string[]> {
    const stamp = stampOf(this.path);
    if (stamp === this.#stamp) return [];
    this.#stamp = stamp;
    const file = await readConfigFile(this.path);
    if (file.kind === 'unreadable') return [formatProblem(file.problem)];
    const { entries, problems } = parseEnvFile(file.kind === 'text' ? file.text : '', this.path, () => undefined);
    for (const { value } of entries) if (value.length >= leastCharacters) rememberSecret(this.#redactor, value);
    this.#values = new Map(entries.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]));
    this.#version += 1;
    return problems.map(formatProblem);
  }
}
