import { newRedactor } from '../lib/redact.ts';
import type { Redactor } from '../lib/redact.ts';
import type { EnvFile } from './parse-env-file.ts';
import type { Problem } from './problem.ts';
import { scalarsOf } from './setting-node.ts';
import type { SettingNode } from './setting-node.ts';
import { soundsSecret } from './variables.ts';

/** Short values of variables that only sound secret may be ordinary words. */
const leastCharacters = 8;

/** A log escapes line breaks, so the lines of a key file have to be known one by one. */
export const rememberSecret = (redactor: Redactor, secret: string): void => {
  for (const text of new Set([secret, secret.trim(), ...secret.split(/\r?\n/).filter((line) => line.length >= 16)])) redactor.remember(text);
};

/** Makes every secret of the configuration known to `redactor`, and answers one that knows them too, for texts about the configuration itself. */
export const conceal = (nodes: readonly SettingNode[], envFile: EnvFile, redactor: Redactor | undefined): Redactor => {
  const own = newRedactor();
  const remember = (secret: string): void => {
    rememberSecret(own, secret);
    if (redactor !== undefined) rememberSecret(redactor, secret);
  };
  for (const node of nodes) for (const scalar of scalarsOf(node)) if (scalar.secret === true && scalar.value !== null) remember(String(scalar.value));
  for (const { name, value } of envFile.entries) if (soundsSecret(name) && value.length >= leastCharacters) remember(value);
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
