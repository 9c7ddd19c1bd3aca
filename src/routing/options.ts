import { z } from 'zod';
import { agentKindFields, checkAgentKind } from '../agent/acp/options.ts';
import { providerNames } from '../agent/models/endpoints/providers.ts';
import { address } from '../agent/models/options.ts';
import { toolsetName } from '../agent/tools/toolsets.ts';
import { defineSection } from '../config/section.ts';
import { checkAgents } from './check-agents.ts';
import type { CheckedSections } from './check-agents.ts';
import { checkRouting } from './check-routing.ts';

/** The name of an agent. */
export const agentId = z
  .string()
  .trim()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be a name of small letters, digits, _ and -, such as `support`');

const agent = z.strictObject({
  ...agentKindFields,
  description: z.string().trim().max(500).describe('What it is for, in a sentence').optional(),
  provider: z.enum(['demo', ...providerNames]).describe('Model provider, instead of the one in `model`').optional(),
  model: z.string().trim().min(1).describe('Model, instead of the one in `model`').optional(),
  base_url: address.describe('Address of its endpoint, instead of the one in `model`. It gets none of the general keys').optional(),
  api_key_env: z.string().trim().min(1).describe('Name of the variable that holds its key: in the agent’s own `.env`, else in the environment of the process, and never in the `.env` of another agent').optional(),
  home_dir: z.string().trim().min(1).describe('Its folder; `<home>/profiles/<id>` when left out').optional(),
  enabled_toolsets: z.array(toolsetName).describe('The only toolsets it has').optional(),
  disabled_toolsets: z.array(toolsetName).describe('Toolsets it does not have').optional(),
  max_concurrent_turns: z.int().min(1).max(1000).describe('Turns that it runs at the same time, in all gateways of one database; further messages wait and hold up no other agent').optional(),
  daily_spend_usd: z.number().min(0).describe('What it may spend on models in a day, in US dollars. Then it says so once in each chat, keeps what people write, and goes on at midnight of this machine. Calls of unknown price count as nothing').optional(),
})
  .superRefine(checkAgentKind)
  .superRefine(({ provider, model, base_url }, context) => {
    if (provider !== undefined && provider !== 'demo' && model === undefined) context.addIssue({ code: 'custom', path: ['model'], message: `provider ${provider} needs the name of a model` });
    if (provider === 'custom' && base_url === undefined) context.addIssue({ code: 'custom', path: ['base_url'], message: 'provider custom needs the address of its endpoint' });
  });

/** A number in YAML is meant as the id it stands for. */
const id = z.coerce.string().trim().min(1);

const match = z.strictObject({
  platform: id.describe('Name of the platform').optional(),
  account: id.describe('Name of the account, such as `telegram@work`').optional(),
  chat_id: id.describe('Id of the chat').optional(),
  thread_id: id.describe('Id of the thread').optional(),
  user_id: id.describe('Id of the person').optional(),
  user_id_alt: id.describe('The more stable id of the person, where the platform has one').optional(),
  chat_type: z.enum(['dm', 'group', 'channel', 'thread']).describe('Kind of the chat').optional(),
  guild_id: id.describe('Id of the server or workspace').optional(),
  parent_chat_id: id.describe('Id of the chat that a thread belongs to').optional(),
});

const route = z.strictObject({
  match: match.describe('Everything named here must be so'),
  agent: agentId.describe('The agent that answers'),
});

export type AgentOptions = Readonly<z.output<typeof agent>>;
export type RouteMatch = Readonly<z.output<typeof match>>;
export type Route = Readonly<z.output<typeof route>>;

/** Which agents there are and who answers whom. */
export const routingSections = [
  defineSection('agents', z.record(agentId, agent).describe('Further agents of this gateway, by name; `main` is always there').default({}), 'live', (all, home) => checkAgents(all as unknown as CheckedSections, home)),
  defineSection('routes', z.array(route).describe('Who answers what: the first route that fits decides').default([]), 'live', (all) => checkRouting(all as unknown as Routing)),
  defineSection('default_agent', agentId.describe('Who answers what no route fits').default('main'), 'live'),
] as const;

/** The values of those sections. */
export interface Routing {
  readonly agents: Readonly<Record<string, AgentOptions>>;
  readonly routes: readonly Route[];
  readonly default_agent: string;
}
