import { Document, isCollection, isSeq, visit } from 'yaml';
import type { EffectiveSetting } from './effective-settings.ts';
import type { Plain } from './setting-node.ts';

/** The effective configuration as YAML, each value with its source as a comment. */
export const settingsAsYaml = (settings: readonly EffectiveSetting[]): string => {
  const document = new Document({});
  for (const { path, value, source } of settings) {
    const node = document.createNode(value);
    if (isCollection(node)) visit(node, (_key, part) => void (isSeq(part) && (part.flow = true)));
    node.comment = ` ${source}`;
    document.setIn(path, node);
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
};

/** The same as one nested object, and the sources by path. */
export const settingsAsJson = (settings: readonly EffectiveSetting[]): { readonly values: Plain; readonly sources: Readonly<Record<string, string>> } => {
  const document = new Document({});
  for (const { path, value } of settings) document.setIn(path, value);
  return { values: document.toJS() as Plain, sources: Object.fromEntries(settings.map(({ path, source }) => [path.join('.'), source])) };
};
