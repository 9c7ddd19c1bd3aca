import type { EnvFile } from './parse-env-file.ts';
import type { Origin } from './problem.ts';

/** What `process.env` is, without the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Variable {
  readonly value: string;
  readonly origin: Extract<Origin, { kind: 'variable' }>;
}

/** Environment over `.env`. A variable set to nothing counts as unset, as people who write `NAME=` mean it. */
export interface Variables {
  get(name: string): Variable | undefined;
  readonly names: readonly string[];
}

/** The process's own environment; nothing else in the program looks at it. */
export const processEnvironment = (): Environment => process.env;

export const newVariables = (env: Environment, envFile: EnvFile, fileName: string): Variables => {
  const stored = new Map(
    envFile.entries.filter(({ value }) => value !== '').map(({ name, value, line }): [string, Variable] => [name, { value, origin: { kind: 'variable', name, file: fileName, line } }]),
  );
  return {
    get(name) {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      return value !== undefined && value !== '' ? { value, origin: { kind: 'variable', name } } : stored.get(name);
    },
    names: [...new Set([...Object.keys(env).filter((name) => (env[name] ?? '') !== ''), ...stored.keys()])],
  };
};

/** Names that speak of a credential, for variables no schema knows. */
export const soundsSecret = (name: string): boolean => /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i.test(name);
