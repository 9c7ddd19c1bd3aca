import { homedir } from 'node:os';
import { join } from 'node:path';
import { isThere } from '../copy-folder.ts';
import { namesIn } from '../import-pieces.ts';
import { at, isRecord, wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';

/** An agent of OpenClaw. */
export interface OpenclawAgent {
  readonly id: string;
  /** What it is called here. The one that answers by default is `main`. */
  readonly as: string;
  /** Its entry in the configuration. */
  readonly options: Plain;
  readonly isConfigured: boolean;
}

const idOf = (written: string): string => written.trim().toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-').replaceAll(/^[-_]+|-+$/g, '').slice(0, 63);

/** Agents of the configuration and those that have left something in the folder. */
export const agentsOf = async (folder: string, root: Plain): Promise<readonly OpenclawAgent[]> => {
  const list = at(root, 'agents', 'list');
  const entries = (Array.isArray(list) ? list.filter(isRecord) : []).map((options) => ({ id: idOf(wordAt(options, 'id') ?? ''), options })).filter(({ id }) => id !== '');
  const first = (entries.find(({ options }) => options['default'] === true) ?? entries[0])?.id ?? 'main';
  const configured = new Map<string, Plain>(entries.map(({ id, options }) => [id, options]));
  const left = (await namesIn(join(folder, 'agents'))).filter((id) => idOf(id) === id);
  const ids = [...new Set([first, ...configured.keys(), ...left])];
  return ids.map((id) => ({ id, as: id === first ? 'main' : id === 'main' ? 'openclaw-main' : id, options: configured.get(id) ?? {}, isConfigured: id === first || configured.has(id) }));
};

const expanded = (path: string): string => (path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path);

/** Where an agent keeps what it knows; the folder may have come from another machine, so what it names need not be there. */
export const workspaceOf = async (folder: string, root: Plain, agent: OpenclawAgent): Promise<string | undefined> => {
  const own = wordAt(agent.options, 'workspace');
  const shared = wordAt(root, 'agents', 'defaults', 'workspace') ?? wordAt(root, 'agent', 'workspace');
  const ofMain = [...(shared === undefined ? [] : [expanded(shared)]), join(folder, 'workspace')];
  const ofOther = [...(shared === undefined ? [] : [join(expanded(shared), agent.id)]), join(folder, `workspace-${agent.id}`)];
  for (const path of [...(own === undefined ? [] : [expanded(own)]), ...(agent.as === 'main' ? ofMain : ofOther)]) if (await isThere(path)) return path;
  return undefined;
};
