import { isAlias, isMap, isNode, isScalar, isSeq, parseDocument, Scalar, visit } from 'yaml';
import type { Document, Node, Pair, Tags, ToStringOptions, YAMLMap, YAMLSeq } from 'yaml';
import { hideReferences, unhideReferences } from './flow-references.ts';

/** Why a path cannot be edited; the rest of the file is untouched. */
export type EditedYaml = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

/** Numbers are written as they were: many are really ids, and longer than a number can be. */
const asWritten = (tags: Tags): Tags =>
  tags.map((tag) => {
    if (typeof tag === 'string' || tag.collection !== undefined || !/:(?:int|float)$/.test(tag.tag)) return tag;
    return { ...tag, stringify: (node, ...rest) => (isScalar(node) && node.source !== undefined ? node.source : (tag.stringify?.(node, ...rest) ?? String(node.value))) };
  });

const parse = (text: string): Document.Parsed => parseDocument(hideReferences(text), { merge: true, logLevel: 'error', customTags: asWritten });

/** In a path, the place behind the last entry of a list. */
const behindLast = '-';

/** Sets the value at the path, or removes it for `undefined`; `-` in place of an index adds to a list. Comments, order and the style of the file are kept. `text` must be valid. */
export const editYaml = (text: string, path: readonly string[], value: Node | undefined): EditedYaml =>
  edit(text, (document) => (value === undefined ? remove(document.contents, path) : put(document, path, value)));

/** The bare entries of the list at a path, as they are written; undefined where there is no list. `text` must be valid. */
export const listAt = (text: string, path: readonly string[]): readonly string[] | undefined => {
  const { contents } = parse(text);
  const way = wayTo(contents, path);
  const value = way.length < path.length ? undefined : way.at(-1)?.pair.value;
  return isSeq(value) ? value.items.filter((item) => isScalar(item)).map((item) => unhideReferences(typeof item.value === 'number' ? (item.source ?? String(item.value)) : String(item.value))) : undefined;
};

/** Moves a key to a place where nothing is, with the comments above and behind it. `text` must be valid. */
export const moveKey = (text: string, { from, to, asList }: { readonly from: readonly string[]; readonly to: readonly string[]; readonly asList?: true }): EditedYaml =>
  edit(text, (document) => {
    const way = wayTo(document.contents, from);
    const value = way.at(-1)?.pair.value;
    if (way.length < from.length || !isNode(value)) return 'is not set in config.yaml';
    if (hasAnchor(value)) return `${from.join('.')} has an anchor (&name); edit the file by hand`;
    const comment = commentAbove(document, way);
    const around = way.at(-1)?.map;
    if (way.length > 1 && around?.items.length === 1 && (isScalar(value) || isSeq(value))) value.comment ??= around.comment ?? null;
    const list = document.createNode([]) as YAMLSeq;
    if (asList === true && !isSeq(value)) list.items.push(value);
    const message = remove(document.contents, from) ?? put(document, to, list.items.length > 0 ? list : value);
    const key = wayTo(document.contents, to).at(-1)?.pair.key;
    if (comment !== '' && isNode(key)) key.commentBefore = comment;
    return message;
  });

interface Step {
  readonly map: YAMLMap;
  readonly pair: Pair;
}

/** The keys on the way to a path, as far as it goes. */
const wayTo = (root: unknown, path: readonly string[]): readonly Step[] => {
  const steps: Step[] = [];
  let at = root;
  for (const name of path) {
    const pair = isMap(at) ? pairOf(at, name) : undefined;
    if (!isMap(at) || pair === undefined) break;
    steps.push({ map: at, pair });
    at = pair.value;
  }
  return steps;
};

/** What is said above a key, and above mappings that would be empty without it. A comment above the first key of a mapping belongs to the mapping, and above that of the file to the file. */
const commentAbove = (document: Document, way: readonly Step[]): string => {
  const lines: string[] = [];
  for (const [i, { map, pair }] of [...way.entries()].toReversed()) {
    const isFirst = pair === map.items[0];
    const key = isNode(pair.key) ? pair.key.commentBefore : undefined;
    const isHead = i === 0 && isFirst && (document.commentBefore ?? '') === '';
    if (key != null) lines.unshift(...(isHead ? leaveHead(document, key) : [key]));
    if (i > 0 && isFirst && map.commentBefore != null) {
      lines.unshift(map.commentBefore);
      map.commentBefore = null;
    }
    if (map.items.length > 1) break;
  }
  return lines.join('\n');
};

/** Of what stands above the first key only the last paragraph is about it; what comes before stays at the head of the file. */
const leaveHead = (document: Document, comment: string): readonly string[] => {
  const end = comment.lastIndexOf('\n\n');
  if (end < 0) return [];
  document.commentBefore = comment.slice(0, end);
  return [comment.slice(end + 2)];
};

const hasAnchor = (node: Node): boolean => {
  let found = false;
  visit(node, {
    Node(_key, inner) {
      found ||= !isAlias(inner) && inner.anchor !== undefined;
    },
  });
  return found;
};

const edit = (text: string, change: (document: Document) => string | undefined): EditedYaml => {
  const document: Document = parse(text);
  if (isNothing(document.contents)) document.contents = document.createNode({}) as typeof document.contents;
  const head = headOf(document);
  const message = change(document);
  if (head !== undefined && headOf(document) !== head) document.commentBefore ??= head;
  if (message !== undefined) return { ok: false, message };
  return { ok: true, text: written(document, text) };
};

/** The document in the style of the text that it was. */
const written = (document: Document, text: string): string => {
  const edited = isNothing(document.contents) || isEmpty(document.contents) ? commentsOf(document) : unhideReferences(document.toString(styleOf(text)));
  return text.includes('\r\n') ? edited.replaceAll(/\r?\n/g, '\r\n') : edited;
};

/** Puts a comment above a key that has none. A key inside braces gets none, since its line would be broken. `apart`: an empty line above the topmost key. */
export const commentKey = (text: string, path: readonly string[], note: { readonly comment: string; readonly apart: boolean }): string => {
  const document: Document = parse(text);
  let at: unknown = document.contents;
  for (const [depth, step] of path.entries()) {
    if (!isMap(at) || at.flow === true) return text;
    const pair = pairOf(at, step);
    if (pair === undefined || !isNode(pair.key)) return text;
    if (depth === 0 && note.apart && pair !== at.items[0]) pair.key.spaceBefore = true;
    // A comment above the first key of a mapping belongs to the mapping.
    const isCommented = pair === at.items[0] && (at.commentBefore ?? '') !== '';
    if (depth === path.length - 1 && !isCommented) pair.key.commentBefore ??= ` ${note.comment}`;
    at = pair.value;
  }
  return written(document, text);
};

/** Passes every comment through `change`; the rest of the file stays. `text` must be valid. */
export const changeComments = (text: string, change: (comment: string) => string): string => {
  const document: Document = parse(text);
  let changed = false;
  const pass = (node: { comment?: string | null; commentBefore?: string | null }): void => {
    for (const place of ['commentBefore', 'comment'] as const) {
      const before = node[place];
      if (before == null || change(before) === before) continue;
      node[place] = change(before);
      changed = true;
    }
  };
  pass(document);
  visit(document, { Node: (_key, node) => pass(node) });
  return changed ? written(document, text) : text;
};

/** The comment above the first key is mostly about the file, so it does not go with that key. */
const headOf = (document: Document): string | undefined => {
  const first = isMap(document.contents) ? document.contents.items[0]?.key : undefined;
  return (isNode(first) ? first.commentBefore : undefined) ?? undefined;
};

/** An empty mapping would be written as `{}`, which nobody wants to go on from. */
const commentsOf = (document: Document): string =>
  [document.commentBefore, document.contents?.commentBefore, document.comment]
    .flatMap((comment) => (comment === null || comment === undefined ? [] : comment.split('\n')))
    .map((line) => `#${line}\n`)
    .join('');

/** What a person typed for a value: YAML where it is YAML, the bare text otherwise, and text for settings that are text. */
export const parseValue = (typed: string, isText: boolean): Node => {
  if (isText) return new Scalar(typed);
  const parsed = parseDocument(typed, { logLevel: 'error' });
  if (parsed.errors.length > 0 || parsed.warnings.length > 0 || parsed.contents === null || hasAlias(parsed)) return new Scalar(typed);
  visit(parsed, {
    Scalar(_key, node) {
      // Ids of some platforms are beyond what a number can hold exactly.
      if (typeof node.value === 'number' && Number.isInteger(node.value) && !Number.isSafeInteger(node.value)) return new Scalar(node.source ?? String(node.value));
      return undefined;
    },
  });
  return parsed.contents;
};

const hasAlias = (document: Document.Parsed): boolean => {
  let found = false;
  visit(document, {
    Alias() {
      found = true;
      return visit.BREAK;
    },
  });
  return found;
};

const isNothing = (node: unknown): boolean => node === null || node === undefined || (isScalar(node) && node.value === null);

const keyText = (key: unknown): string => (isScalar(key) ? String(key.source ?? key.value) : '');

const pairOf = (map: YAMLMap, key: string): Pair | undefined => map.items.find((pair) => keyText(pair.key) === key);

const put = (document: Document, path: readonly string[], value: Node): string | undefined => {
  let at: unknown = document.contents;
  for (const [depth, key] of path.entries()) {
    const place = path.slice(0, depth).join('.');
    const next = depth === path.length - 1 ? value : undefined;
    const fresh = (): Node => document.createNode(path[depth + 1] === behindLast ? [] : {});
    if (isAlias(at)) return `${place} is an alias (*name); edit the file by hand`;
    if (isSeq(at)) {
      const index = key === behindLast ? at.items.length : Number(key);
      if (!Number.isInteger(index) || index < 0 || index > at.items.length) return `${place} is a list with ${at.items.length} entries`;
      at.items[index] = next ?? (isNothing(at.items[index]) ? fresh() : at.items[index]);
      at = at.items[index];
    } else if (isMap(at)) {
      const pair = pairOf(at, key) ?? addPair(document, at, key);
      if (next !== undefined) pair.value = inPlaceOf(pair.value, asListLike(document, pair.value, next));
      else if (isNothing(pair.value)) pair.value = inPlaceOf(pair.value, fresh());
      else if (isScalar(pair.value) && path[depth + 1] === behindLast) pair.value = inPlaceOf(pair.value, listOf(document, pair.value));
      at = pair.value;
    } else {
      return `${place} is a bare value, so nothing can stand below it`;
    }
  }
  return undefined;
};

/** A bare value as the list that it stands for; commas part its entries. */
const listOf = (document: Document, bare: Scalar): YAMLSeq => {
  const { value } = bare;
  const list = document.createNode(typeof value === 'string' ? value.split(',').map((part) => part.trim()) : []) as YAMLSeq;
  if (typeof value !== 'string') list.items.push(bare);
  return list;
};

/** What was a list stays one, with a bare value as its only entry. */
const asListLike = (document: Document, old: unknown, node: Node): Node => (isSeq(old) && isScalar(node) && !isNothing(node) ? listOf(document, node) : node);

const addPair = (document: Document, map: YAMLMap, key: string): Pair => {
  const pair = document.createPair(key, null);
  map.items.push(pair);
  return pair;
};

/** A comment behind the old value stays behind the new one. */
const inPlaceOf = (old: unknown, node: Node): Node => {
  if (isScalar(old) || isSeq(old)) {
    if (isScalar(node) || isSeq(node)) node.comment ??= old.comment ?? null;
    else node.commentBefore ??= old.comment ?? null;
  }
  if (isNode(old) && isSeq(node) && isSeq(old)) node.flow = old.flow ?? false;
  return node;
};

const isEmpty = (node: unknown): boolean => (isMap(node) || isSeq(node)) && node.items.length === 0;

const removeItem = (at: YAMLSeq, path: readonly string[]): string | undefined => {
  const [key = '', ...rest] = path;
  const index = Number(key);
  if (key === '' || !Number.isInteger(index) || index < 0 || index >= at.items.length) return 'is not set in config.yaml';
  const message = rest.length === 0 ? undefined : remove(at.items[index], rest);
  if (message !== undefined) return message;
  if (rest.length === 0 || isEmpty(at.items[index])) at.items.splice(index, 1);
  return undefined;
};

/** Mappings and lists that become empty go too, so that an account without keys is no account. */
const remove = (at: unknown, path: readonly string[]): string | undefined => {
  const [key = '', ...rest] = path;
  if (isSeq(at)) return removeItem(at, path);
  if (!isMap(at)) return 'is not set in config.yaml';
  const pair = pairOf(at, key);
  if (pair === undefined) return 'is not set in config.yaml';
  if (rest.length > 0) {
    const message = remove(pair.value, rest);
    if (message !== undefined) return message;
  }
  if (rest.length === 0 || isEmpty(pair.value)) at.items.splice(at.items.indexOf(pair), 1);
  return undefined;
};

/** As the file is already written, so that an edit changes its own line and no other. */
const styleOf = (text: string): ToStringOptions => {
  const indent = /^[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n( +)(?=[^\s#-])/m.exec(text)?.[1]?.length ?? 2;
  return {
    lineWidth: 0,
    indent: Math.min(8, indent),
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\r?\n\1- /m.test(text),
    flowCollectionPadding: !/[{[][^\s}\]]/.test(text) || /[{[] /.test(text),
  };
};
