import { stringify } from 'yaml';
import type { ImportReport } from '../import-report.ts';
import { at, isRecord, wordAt } from '../plain-json.ts';
import type { OpenclawAgent } from './agents.ts';
import type { OpenclawConfig } from './load-config.ts';
import { mapAgents } from './map-agents.ts';
import { mapChannels } from './map-channels.ts';
import { mapLogins, mapModels } from './map-models.ts';
import { leave } from './mapping.ts';
import type { Mapping } from './mapping.ts';

const quote = (value: string): string => (value.includes("'") ? JSON.stringify(value) : `'${value}'`);

const mapServers = (mapping: Mapping, root: unknown): void => {
  const servers = at(root, 'mcp', 'servers');
  if (!isRecord(servers)) return;
  const keys = ['command', 'args', 'env', 'cwd', 'url', 'headers'];
  mapping.settings['mcp_servers'] = Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, Object.fromEntries(Object.entries(isRecord(server) ? server : {}).filter(([key]) => keys.includes(key)))]));
};

const mapReset = (mapping: Mapping, root: unknown): void => {
  const mode = wordAt(root, 'session', 'reset', 'mode');
  if (mode !== 'daily' && mode !== 'idle') return;
  const [hour, minutes] = [at(root, 'session', 'reset', 'atHour'), at(root, 'session', 'reset', 'idleMinutes')];
  mapping.settings['session_reset'] = { mode: mode === 'daily' && minutes !== undefined ? 'both' : mode, ...(hour !== undefined && { at_hour: hour }), ...(minutes !== undefined && { idle_minutes: minutes }) };
};

/** Keys that are dealt with, or that mean nothing to anybody else. */
const read = new Set(['channels', 'agents', 'agent', 'bindings', 'models', 'mcp', 'env', 'meta', '$schema', 'wizard', 'auth']);

export interface OpenclawSources {
  readonly agents: readonly OpenclawAgent[];
  /** What OpenClaw keeps of logins to model providers, each as JSON. */
  readonly logins: readonly string[];
  readonly report: ImportReport;
}

/** As our own two files would say it. */
export interface MappedConfig {
  readonly config: string;
  readonly env: string;
}

/** What of OpenClaw's configuration has a clear counterpart here, as our own two files would say it; everything else is named. */
export const mapOpenclawConfig = ({ root, variables }: OpenclawConfig, { agents, logins, report }: OpenclawSources): MappedConfig => {
  const mapping: Mapping = { settings: {}, env: new Map(variables), variables, report };
  mapModels(mapping, root, agents.find(({ as }) => as === 'main'));
  mapAgents(mapping, root, agents);
  mapLogins(mapping, logins);
  mapChannels(mapping, root);
  mapServers(mapping, root);
  mapReset(mapping, root);
  const rest = Object.keys(root).filter((key) => !read.has(key) && !(key === 'session' && mapping.settings['session_reset'] !== undefined));
  if (rest.length > 0) leave(mapping, rest.join(', '), 'these have no counterpart that could be chosen for you');
  return {
    config: Object.keys(mapping.settings).length === 0 ? '' : stringify(mapping.settings),
    env: [...mapping.env].map(([name, value]) => `${name}=${quote(value)}\n`).join(''),
  };
};
