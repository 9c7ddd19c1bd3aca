import type { SettingPath } from '../problem.ts';
import { emptyMap } from '../settings/setting-node.ts';
import type { MapEntry, MapNode, SettingNode } from '../settings/setting-node.ts';

/** A key that has moved. It is still understood, and whoever migrates the file writes it in its new place. */
export interface Retirement {
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** One value where there is a list now. */
  readonly asList?: true;
}

/** Retirements stay for good: nobody knows from which version somebody upgrades. */
export const retirements: readonly Retirement[] = [
  { from: ['timezone'], to: ['cron', 'timezone'] },
  { from: ['fallback_model'], to: ['fallback_providers'], asList: true },
  { from: ['personalities'], to: ['agent', 'personalities'] },
  { from: ['streaming', 'enabled'], to: ['display', 'streaming'] },
  { from: ['stt_echo_transcripts'], to: ['stt', 'echo_transcripts'] },
  // The original reads its own keys below `gateway` as well; those above win.
  { from: ['gateway', 'streaming', 'enabled'], to: ['display', 'streaming'] },
  { from: ['gateway', 'stt_echo_transcripts'], to: ['stt', 'echo_transcripts'] },
];

export interface RetiredKey extends Retirement {
  readonly entry: MapEntry;
}

const entryAt = (root: MapNode, path: readonly string[]): MapEntry | undefined => {
  const [key = '', ...rest] = path;
  const entry = root.entries.get(key);
  if (entry === undefined || rest.length === 0) return entry;
  return entry.value.kind === 'map' ? entryAt(entry.value, rest) : undefined;
};

const without = (root: MapNode, path: readonly string[]): MapNode => {
  const [key = '', ...rest] = path;
  const entry = root.entries.get(key);
  const entries = new Map(root.entries);
  const inner = rest.length > 0 && entry?.value.kind === 'map' ? without(entry.value, rest) : undefined;
  if (entry === undefined || inner === undefined || inner.entries.size === 0) entries.delete(key);
  else entries.set(key, { ...entry, value: inner });
  return { ...root, entries };
};

const withEntry = (root: MapNode, path: readonly string[], entry: MapEntry): MapNode => {
  const [key = '', ...rest] = path;
  const old = root.entries.get(key);
  const value = rest.length === 0 ? entry : { keyAt: old?.keyAt ?? entry.keyAt, value: withEntry(old?.value.kind === 'map' ? old.value : emptyMap(entry.keyAt), rest, entry) };
  return { ...root, entries: new Map([...root.entries, [key, value]]) };
};

/** Whether something that is no mapping stands on the way, such as `agent: x` where `agent.personalities` is to go. */
const isBlocked = (root: MapNode, path: SettingPath): boolean => {
  let node: SettingNode | undefined = root;
  for (const key of path.slice(0, -1)) {
    node = node?.kind === 'map' ? node.entries.get(String(key))?.value : undefined;
    if (node !== undefined && node.kind !== 'map' && !(node.kind === 'scalar' && node.value === null)) return true;
  }
  return false;
};

export interface Retired {
  /** The configuration as it would be written today. */
  readonly root: MapNode;
  /** Keys that were moved for that. */
  readonly retired: readonly RetiredKey[];
  /** Keys that were left out, because something stands in the new place already and wins. */
  readonly overruled: readonly RetiredKey[];
}

export const retireKeys = (root: MapNode, table: readonly Retirement[] = retirements): Retired => {
  const retired: RetiredKey[] = [];
  const overruled: RetiredKey[] = [];
  let moved = root;
  for (const retirement of table) {
    const entry = entryAt(moved, retirement.from);
    if (entry === undefined || isBlocked(moved, retirement.to)) continue;
    const rest = without(moved, retirement.from);
    if (entryAt(moved, retirement.to) !== undefined) {
      overruled.push({ ...retirement, entry });
      moved = rest;
      continue;
    }
    const value: SettingNode = retirement.asList === true && entry.value.kind !== 'list' ? { kind: 'list', items: [entry.value], at: entry.value.at } : entry.value;
    moved = withEntry(rest, retirement.to, { ...entry, value });
    retired.push({ ...retirement, entry: { ...entry, value } });
  }
  return { root: moved, retired, overruled };
};
