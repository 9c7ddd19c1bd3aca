import type { Origin } from './problem.ts';
import { sourceEndings, sourceText } from './secrets/secret-source.ts';
import type { SecretSources } from './secrets/secret-source.ts';
import type { EnvFile } from './text/parse-env-file.ts';

/** What `process.env` is, without the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Variable {
  readonly value: string;
  readonly origin: Extract<Origin, { kind: 'variable' }>;
}

/** Environment over `.env`. A variable set to nothing counts as unset, as people who write `NAME=` mean it. */
export interface Variables {
  get(name: string): Variable | undefined;
  /** Whether it is given in any way, also in one that does not work. */
  has(name: string): boolean;
  /** Why a secret that is given cannot be had. */
  fault(name: string): { readonly message: string; readonly origin: Variable['origin'] } | undefined;
  readonly secrets: SecretSources;
  readonly names: readonly string[];
}

/** The process's own environment; nothing else in the program looks at it. */
export const processEnvironment = (): Environment => process.env;

export interface VariableSources {
  readonly env: Environment;
  readonly envFile: EnvFile;
  readonly fileName: string;
  readonly secrets: SecretSources;
  /** Variables of secret settings: `NAME_FILE` and `NAME_CMD` may stand in for these, and for those whose names sound like it. */
  readonly secretNames: ReadonlySet<string>;
}

type Found = { readonly variable: Variable } | { readonly fault: string; readonly origin: Variable['origin'] };

export const newVariables = ({ env, envFile, fileName, secrets, secretNames }: VariableSources): Variables => {
  const stored = new Map(
    envFile.entries.filter(({ value }) => value !== '').map(({ name, value, line }): [string, Variable] => [name, { value, origin: { kind: 'variable', name, file: fileName, line } }]),
  );
  const plain = (name: string): Variable | undefined => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    return value !== undefined && value !== '' ? { value, origin: { kind: 'variable', name } } : stored.get(name);
  };
  const givenFor = (name: string) => sourceEndings.flatMap(({ variable, kind }) => ((given) => (given === undefined ? [] : [{ kind, given }]))(plain(`${name}${variable}`)));
  const find = (name: string): Found | undefined => {
    const own = plain(name);
    const sources = secretNames.has(name) || soundsSecret(name) ? givenFor(name) : [];
    const [first] = sources;
    if (first === undefined) return own === undefined ? undefined : { variable: own };
    const { origin, value } = first.given;
    const names = [...(own === undefined ? [] : [name]), ...sources.map(({ given }) => given.origin.name)];
    if (names.length > 1) return { fault: `${names.join(' and ')} are both set; keep one`, origin };
    const source = secrets.sourceOf(first.kind, value);
    const reading = secrets.read(source);
    return reading.ok ? { variable: { value: reading.value, origin: { ...origin, via: sourceText(source) } } } : { fault: reading.message, origin };
  };
  return {
    get(name) {
      const found = find(name);
      return found !== undefined && 'variable' in found ? found.variable : undefined;
    },
    has: (name) => plain(name) !== undefined || ((secretNames.has(name) || soundsSecret(name)) && givenFor(name).length > 0),
    fault(name) {
      const found = find(name);
      return found !== undefined && 'fault' in found ? { message: found.fault, origin: found.origin } : undefined;
    },
    secrets,
    names: [...new Set([...Object.keys(env).filter((name) => (env[name] ?? '') !== ''), ...stored.keys()])],
  };
};

/** Names that speak of a credential, for variables no schema knows. */
export const soundsSecret = (name: string): boolean => /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i.test(name);
