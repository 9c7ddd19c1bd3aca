import type { Redactor } from '../../lib/redact.ts';

/** The variables that one `.env` sets, and nothing of any other file or of the environment. */
export interface OwnVariables {
  readonly path: string;
  /** Another number means that something may have changed. */
  readonly version: number;
  get(name: string): string | undefined;
  /** Looks whether the file has changed; answers what is wrong with it. */
  refresh(): Promise<readonly string[]>;
}

/** What whoever starts the gateway can tell about variables. */
export interface VariablesOutside {
  /** Makes every value known to the redactor before it can be had. */
  openVariables?(path: string, redactor: Redactor): OwnVariables;
  /** A variable of the process itself, which belongs to no agent. */
  environment?(name: string): string | undefined;
}

export const noVariables = (path: string): OwnVariables => ({ path, version: 0, get: () => undefined, refresh: () => Promise.resolve([]) });
