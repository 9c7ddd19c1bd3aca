import { percentDecoded } from '../../lib/percent-decoded.ts';
import { newRedactor } from '../../lib/redact.ts';
import type { Redactor } from '../../lib/redact.ts';
import type { Problem } from '../problem.ts';
import { scalarsOf } from '../settings/setting-node.ts';
import type { SettingNode } from '../settings/setting-node.ts';
import type { EnvFile } from '../text/parse-env-file.ts';
import { soundsSecret } from '../variables.ts';
import type { SecretReadings } from './secret-source.ts';
import { writtenCredentials } from './written-credentials.ts';

/** Short values of variables that only sound secret may be ordinary words. */
const leastCharacters = 8;

/** The parts of a secret that are secrets by themselves: of `Bearer key` the key, of a list each, of an address its password. */
const partsOf = (secret: string): readonly string[] => {
  const password = URL.parse(secret)?.password ?? '';
  return [...secret.split(/\r?\n/), ...secret.split(/[\s,]+/)].filter((part) => part.length >= 16).concat(password === '' ? [] : [password, percentDecoded(password)]);
};

/** Also its parts, since a log escapes line breaks and a server repeats only what it was sent. */
export const rememberSecret = (redactor: Redactor, secret: string): void => {
  for (const text of new Set([secret, secret.trim(), ...partsOf(secret)])) redactor.remember(text);
};

/** Makes every secret of the configuration known to `redactor`, and answers one that knows them too, for texts about the configuration itself. */
export const conceal = (nodes: readonly SettingNode[], kept: { readonly envFile: EnvFile; readonly secrets: SecretReadings }, redactor: Redactor | undefined): Redactor => {
  const own = newRedactor();
  const remember = (secret: string): void => {
    rememberSecret(own, secret);
    if (redactor !== undefined) rememberSecret(redactor, secret);
  };
  for (const node of nodes) for (const scalar of scalarsOf(node)) if (scalar.secret === true && scalar.value !== null) remember(String(scalar.value));
  for (const node of nodes) for (const credential of writtenCredentials(node)) remember(credential);
  for (const reading of kept.secrets.values()) if (reading.ok) remember(reading.value);
  for (const { name, value } of kept.envFile.entries) if (soundsSecret(name) && value.length >= leastCharacters) remember(value);
  return own;
};

export const concealProblem = (problem: Problem, redactor: Redactor): Problem => ({
  ...problem,
  path: redactor.redact(problem.path),
  message: redactor.redact(problem.message),
  ...(problem.suggestion !== undefined && { suggestion: redactor.redact(problem.suggestion) }),
});

/** Whether a secret stands in the file itself and not only as `${NAME}`. */
export const hasSecretInFile = (node: SettingNode): boolean =>
  scalarsOf(node).some((scalar) => scalar.secret === true && scalar.filled !== true && scalar.at.kind === 'file');
