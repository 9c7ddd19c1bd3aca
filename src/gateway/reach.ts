import { homedir } from 'node:os';
import { addressOf } from '../agent/models/endpoints/create-provider.ts';
import { listModels } from '../agent/models/endpoints/list-models.ts';
import type { Reach } from '../commands/reach.ts';
import type { AuditedAct } from '../lib/audit-log.ts';
import type { Adapter } from '../platforms/contract.ts';
import { voiceModeOf } from '../sessions/media/wants-speech.ts';
import type { Agents } from './agents/agents.ts';
import type { VariablesOutside } from './agents/own-variables.ts';
import type { GatewaySettings } from './settings.ts';

export interface ReachOptions {
  readonly mediaFolder: string;
  redact(text: string): string;
  settings(): GatewaySettings;
  adapter(account: string): Adapter | undefined;
  /** What whoever started the gateway can do for it. */
  readonly agents: Pick<Agents, 'peek'>;
  readonly mcp: Reach['mcp'];
  readonly hooks: NonNullable<Reach['hooks']>;
  readonly helpers: NonNullable<Reach['helpers']>;
  readonly processes: NonNullable<Reach['processes']>;
  readonly cron: NonNullable<Reach['cron']>;
  readonly outside: Pick<Reach, 'restart' | 'changeSetting'> & VariablesOutside & { readonly audit?: (act: AuditedAct) => void; readonly childEnvironment?: (passthrough: readonly string[]) => Readonly<Record<string, string>> };
}

/** Enough to find programs and to know whose they are. */
const bareEnvironment = (): Readonly<Record<string, string>> => ({ PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: homedir(), LANG: 'C.UTF-8' });

/** What programs of ours may know of the environment. */
export const childEnvironmentOf =
  (outside: ReachOptions['outside'], settings: () => GatewaySettings): Reach['childEnvironment'] =>
  () =>
    outside.childEnvironment?.(settings().terminal.env_passthrough) ?? bareEnvironment();

const listTimeoutMs = 15_000;

/** The demo is one model and has no list. */
const modelNames = async ({ model }: GatewaySettings, signal: AbortSignal): Promise<readonly string[]> => {
  const { provider } = model;
  if (provider === 'demo') return [];
  const models = await listModels(addressOf({ ...model, provider }, model.endpoints), { fetch }, AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]));
  return models.map(({ id }) => id);
};

/** What this gateway lends to commands. */
export const newReach = ({ mediaFolder, redact, settings, adapter, agents, mcp, hooks, processes, helpers, cron, outside }: ReachOptions): Reach => ({
  mediaFolder,
  redact,
  sendsFiles: (account) => adapter(account)?.media !== undefined,
  voice(agent) {
    const models = agents.peek(agent)?.models;
    if (models === undefined) return undefined;
    return { hears: settings().stt.enabled && models.endpointFor('transcription') !== undefined, speaks: models.endpointFor('speech') !== undefined, usual: voiceModeOf({}, settings().voice) };
  },
  listModels: (signal) => modelNames(settings(), signal),
  childEnvironment: childEnvironmentOf(outside, settings),
  processes,
  helpers,
  hooks,
  cron,
  memory: (agent) => agents.peek(agent)?.memory,
  skills: (agent) => agents.peek(agent)?.skills,
  tools: ({ agent, account }) => ({ all: agents.peek(agent)?.allGroups ?? [], selected: agents.peek(agent)?.groupsFor(account) ?? [] }),
  ...(mcp !== undefined && { mcp }),
  ...(outside.restart !== undefined && { restart: outside.restart }),
  ...(outside.changeSetting !== undefined && { changeSetting: outside.changeSetting }),
});
