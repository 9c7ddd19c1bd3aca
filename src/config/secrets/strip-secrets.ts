import { Scalar } from 'yaml';
import { newRedactor } from '../../lib/redact.ts';
import { configFileName } from '../evaluate.ts';
import type { PlatformFacts } from '../read-accounts.ts';
import { factsOf } from '../schema.ts';
import type { Section } from '../section.ts';
import { findSetting } from '../settings/find-setting.ts';
import type { SettingNode } from '../settings/setting-node.ts';
import { changeComments, editYaml } from '../text/edit-yaml.ts';
import { parseYaml } from '../text/parse-yaml.ts';
import { soundsSecret } from '../variables.ts';
import { maskNamed } from './mask-named.ts';
import { writtenCredentials } from './written-credentials.ts';

export interface StrippedConfig {
  readonly text: string;
  /** The paths that were taken out. */
  readonly removed: readonly string[];
}

const isReference = (value: unknown): boolean => typeof value === 'string' && /^\$\{[A-Za-z_]\w*\}$/.test(value);

/** Longest first in each list, so that taking one out moves none of the others. */
function* leaves(node: SettingNode, path: readonly string[]): Generator<{ readonly path: readonly string[]; readonly value: unknown }> {
  if (node.kind === 'map') for (const [key, entry] of node.entries) yield* leaves(entry.value, [...path, key]);
  else if (node.kind === 'list') for (const [index, item] of [...node.items.entries()].toReversed()) yield* leaves(item, [...path, String(index)]);
  else yield { path, value: node.value };
}

/** An address or argument stays, with `***` where its credential was. */
const withoutCredentials = (value: unknown, credentials: readonly string[]): unknown => (typeof value === 'string' ? credentials.reduce((text, credential) => text.replaceAll(credential, '***'), value) : value);

/** The text of config.yaml without secrets, in comments too; those that stand in a variable are named there and stay. Undefined when it cannot be read. */
export const stripSecrets = (text: string, known: { readonly sections: readonly Section[]; readonly platforms: readonly PlatformFacts[] }): StrippedConfig | undefined => {
  const parsed = parseYaml(text, configFileName);
  if (!parsed.ok) return undefined;
  const isSecret = (path: readonly string[]): boolean =>
    path.some((key, depth) => {
      const setting = findSetting(path.slice(0, depth + 1), known.sections, known.platforms);
      // The name of a variable is none.
      if (setting !== undefined && factsOf(setting.schema).namesVariable) return false;
      return setting?.secret === true || soundsSecret(key.replaceAll(/([a-z])([A-Z])/g, '$1_$2'));
    });
  const credentials = writtenCredentials(parsed.root).filter((credential) => !isReference(credential));
  const redactor = newRedactor();
  let stripped = text;
  const removed: string[] = [];
  for (const { path, value } of leaves(parsed.root, [])) {
    if (value === null || value === '' || isReference(value)) continue;
    if (isSecret(path)) redactor.remember(String(value));
    const left = isSecret(path) ? undefined : withoutCredentials(value, credentials);
    if (left === value) continue;
    const edited = editYaml(stripped, path, left === undefined ? undefined : new Scalar(left));
    if (!edited.ok) return undefined;
    stripped = edited.text;
    removed.push(path.join('.'));
  }
  const silent = changeComments(stripped, (comment) => maskNamed(redactor.redact(comment)));
  return { text: silent, removed: silent === stripped ? removed : [...removed, 'comments'] };
};
