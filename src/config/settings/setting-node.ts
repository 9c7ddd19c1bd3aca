import type { Origin, SettingPath } from '../problem.ts';

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** As it was written, for numbers that are really ids. */
  readonly source?: string;
  readonly at: Origin;
  readonly secret?: boolean;
  /** The text holds the value of a variable, so the file itself does not hold it. */
  readonly filled?: boolean;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly SettingNode[];
  readonly at: Origin;
}

export interface MapEntry {
  readonly keyAt: Origin;
  readonly value: SettingNode;
}

export interface MapNode {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, MapEntry>;
  /** The key it stands below, where there is one. */
  readonly at: Origin;
}

/** A configuration value that knows where each of its parts came from. Never changed in place. */
export type SettingNode = ScalarNode | ListNode | MapNode;

export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

export const toPlain = (node: SettingNode): Plain => {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(toPlain);
    case 'map':
      return Object.fromEntries([...node.entries].map(([key, entry]) => [key, toPlain(entry.value)]));
    default:
      return node satisfies never;
  }
};

/** The same tree with every scalar passed through `change`. */
export const mapScalars = (node: SettingNode, change: (scalar: ScalarNode) => SettingNode): SettingNode => {
  switch (node.kind) {
    case 'scalar':
      return change(node);
    case 'list':
      return { ...node, items: node.items.map((item) => mapScalars(item, change)) };
    case 'map':
      return { ...node, entries: new Map([...node.entries].map(([key, entry]) => [key, { ...entry, value: mapScalars(entry.value, change) }])) };
    default:
      return node satisfies never;
  }
};

/** The same in plain values, where a row of digits that no number can hold as it is written stays text: it is an id. */
export const toExactPlain = (node: SettingNode): Plain =>
  toPlain(mapScalars(node, (scalar) => (typeof scalar.value === 'number' && scalar.source !== undefined && /^\d+$/.test(scalar.source) && String(scalar.value) !== scalar.source ? { ...scalar, value: scalar.source } : scalar)));

export function* scalarsOf(node: SettingNode): Generator<ScalarNode> {
  switch (node.kind) {
    case 'scalar':
      yield node;
      return;
    case 'list':
      for (const item of node.items) yield* scalarsOf(item);
      return;
    case 'map':
      for (const entry of node.entries.values()) yield* scalarsOf(entry.value);
      return;
    default:
      node satisfies never;
  }
}

export const childOf = (node: SettingNode | undefined, step: PropertyKey): SettingNode | undefined => {
  if (node?.kind === 'map') return node.entries.get(String(step))?.value;
  if (node?.kind === 'list') return node.items[Number(step)];
  return undefined;
};

/** The node at the path, or the deepest one on the way to it with what is left of the path. */
export const descend = (root: SettingNode, path: SettingPath): { readonly node: SettingNode; readonly rest: SettingPath } => {
  let node = root;
  for (const [depth, step] of path.entries()) {
    const next = childOf(node, step);
    if (next === undefined) return { node, rest: path.slice(depth) };
    node = next;
  }
  return { node, rest: [] };
};

export const emptyMap = (at: Origin): MapNode => ({ kind: 'map', entries: new Map(), at });
