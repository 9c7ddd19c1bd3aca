import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, ErrorCode, Node, Pair, YAMLMap } from 'yaml';
import { problemAt } from '../problem.ts';
import type { Origin, Problem, SettingPath } from '../problem.ts';
import { emptyMap } from '../settings/setting-node.ts';
import type { MapEntry, MapNode, SettingNode } from '../settings/setting-node.ts';
import { hideReferences, unhideReferences } from './flow-references.ts';

/** The library's own messages quote the source, which may be a secret; these do not. */
const sentences: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) cannot have an anchor or a tag',
  BAD_ALIAS: 'this alias (*name) has no anchor (&name) before it; put text that starts with * in quotes',
  BAD_COLLECTION_TYPE: 'the tag does not fit the value',
  BAD_DIRECTIVE: 'this line starts with % and is not a YAML directive; put the text in quotes',
  BAD_DQ_ESCAPE: 'unknown escape after a backslash; use single quotes for text with backslashes',
  BAD_INDENT: 'the indentation does not fit the lines above',
  BAD_PROP_ORDER: 'anchors and tags must stand in front of the value',
  BAD_SCALAR_START: 'text that starts with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping cannot start on this line; is there a second colon, or a missing line break?',
  BLOCK_IN_FLOW: 'an indented block cannot stand inside { } or [ ]',
  DUPLICATE_KEY: 'this key stands here for the second time',
  IMPOSSIBLE: 'this is not YAML',
  KEY_OVER_1024_CHARS: 'this key is too long; is a line break or a quote missing?',
  MISSING_CHAR: 'something is missing here: a closing quote, bracket or brace, a comma, or a space after the colon',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; is a colon missing?',
  MULTIPLE_ANCHORS: 'a value can have one anchor only',
  MULTIPLE_DOCS: 'a second document starts here (---); only one is read',
  MULTIPLE_TAGS: 'a value can have one tag only',
  NON_STRING_KEY: 'a key must be text',
  RESOURCE_EXHAUSTION: 'nested too deeply',
  TAB_AS_INDENT: 'a tab is used for indentation; use spaces',
  TAG_RESOLVE_FAILED: 'this tag (!name) is not known here',
  UNEXPECTED_TOKEN: 'this does not belong here',
};

/** Aliases may repeat a few lines many times, but not without end. */
const maxNodes = 50_000;
const maxDepth = 64;

export type ParsedYaml = { readonly ok: true; readonly root: MapNode } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Ends a conversion; only this file sees it. */
class Refusal extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** The text as nodes that know their lines. An empty file is an empty mapping; nothing here throws on any input. */
export const parseYaml = (text: string, file: string): ParsedYaml => {
  const lines = new LineCounter();
  const place = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problem = (offset: number, message: string): Problem =>
    problemAt({ kind: 'file', file, ...place(offset), path: [] }, [], { code: 'syntax', message });
  try {
    // The library compares every key with every other; `convert` finds repeated keys in one pass.
    const document = parseDocument(hideReferences(text), { lineCounter: lines, prettyErrors: false, uniqueKeys: false, merge: true, logLevel: 'error' });
    const faults = [...document.errors, ...document.warnings];
    if (faults.length > 0) return { ok: false, problems: faults.slice(0, 10).map((fault) => problem(fault.pos[0], sentences[fault.code])) };
    const start: Origin = { kind: 'file', file, line: 1, column: 1, path: [] };
    if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) return { ok: true, root: emptyMap(start) };
    const root = convert(document, (offset, path) => ({ kind: 'file', file, ...place(offset), path }));
    if (root.kind === 'map') return { ok: true, root };
    return { ok: false, problems: [problem(document.contents.range?.[0] ?? 0, `the file must be a mapping (key: value), not a ${root.kind === 'list' ? 'list' : 'bare value'}`)] };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, problems: [error.problem] };
    if (error instanceof RangeError) return { ok: false, problems: [problem(0, 'nested too deeply')] };
    throw error;
  }
};

type OriginAt = (offset: number, path: SettingPath) => Origin;

interface Step {
  readonly path: SettingPath;
  readonly keyAt?: Origin;
  readonly depth: number;
}

const convert = (document: Document.Parsed, originAt: OriginAt): SettingNode => {
  let nodes = 0;
  // In document order an alias means the latest anchor of its name; the library walks the whole document for each.
  const anchors = new Map<string, Node>();
  const refuse = (node: Node | null, path: SettingPath, message: string): never => {
    throw new Refusal(problemAt(originAt(node?.range?.[0] ?? 0, path), path, { code: 'syntax', message }));
  };

  const visit = (node: Node | null, step: Step): SettingNode => {
    nodes += 1;
    if (nodes > maxNodes || step.depth > maxDepth) refuse(node, step.path, 'nested too deeply, or repeated too often by aliases');
    const at = originAt(node?.range?.[0] ?? 0, step.path);
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      return target === undefined ? refuse(node, step.path, sentences.BAD_ALIAS) : visit(target, { ...step, depth: step.depth + 1 });
    }
    if (node !== null && 'anchor' in node && node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isMap(node)) return { kind: 'map', entries: entriesOf(node, step), at: step.keyAt ?? at };
    if (isSeq(node)) {
      const items = node.items.map((item, index) => visit(item as Node | null, { path: [...step.path, index], depth: step.depth + 1 }));
      return { kind: 'list', items, at: step.keyAt ?? at };
    }
    if (!isScalar(node)) return { kind: 'scalar', value: null, at: step.keyAt ?? at };
    const { value } = node;
    if (value === null || value === undefined) return { kind: 'scalar', value: null, at: step.keyAt ?? at };
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return refuse(node, step.path, 'this kind of value is not known here');
    return { kind: 'scalar', value: typeof value === 'string' ? unhideReferences(value) : value, ...(node.source !== undefined && { source: node.source }), at };
  };

  const entriesOf = (map: YAMLMap, step: Step): Map<string, MapEntry> => {
    const entries = new Map<string, MapEntry>();
    const merged: [string, MapEntry][] = [];
    for (const pair of map.items as Pair<Node, Node | null>[]) {
      const keyNode = isAlias(pair.key) ? anchors.get(pair.key.source) : pair.key;
      if (!isScalar(keyNode)) return refuse(pair.key, step.path, sentences.NON_STRING_KEY);
      const name = unhideReferences(String(keyNode.source ?? keyNode.value));
      if (keyNode.value === null || name === '') return refuse(pair.key, step.path, 'a key is missing in front of the colon');
      const path = [...step.path, name];
      const keyAt = originAt(pair.key.range?.[0] ?? 0, path);
      if (name === '<<') {
        merged.push(...mergedEntries(visit(pair.value, { path: step.path, keyAt, depth: step.depth + 1 }), pair.key, step.path));
        continue;
      }
      if (entries.has(name)) refuse(pair.key, path, sentences.DUPLICATE_KEY);
      entries.set(name, { keyAt, value: visit(pair.value, { path, keyAt, depth: step.depth + 1 }) });
    }
    for (const [name, entry] of merged) if (!entries.has(name)) entries.set(name, entry);
    return entries;
  };

  const mergedEntries = (source: SettingNode, key: Node, path: SettingPath): [string, MapEntry][] => {
    if (source.kind === 'map') return [...source.entries];
    if (source.kind === 'list' && source.items.every((item) => item.kind === 'map')) return source.items.flatMap((item) => [...item.entries]);
    return refuse(key, path, '<< needs a mapping to take keys from');
  };

  return visit(document.contents, { path: [], depth: 0 });
};
