import { z } from 'zod';
import { agentKindFields, checkAgentKind } from '../agent/acp/options.ts';
import { providerNames } from '../agent/models/providers.ts';
import { defineSection } from '../config/section.ts';
import { checkRouting } from './check-routing.ts';

const agentId = z
  .string()
  .trim()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be a name of small letters, digits, _ and -, such as `support`');

const agent = z.strictObject({
  ...agentKindFields,
  description: z.string().trim().max(500).describe('What it is for, in a sentence').optional(),
  provider: z.enum(['demo', ...providerNames]).describe('Model provider, instead of the one in `model`').optional(),
  model: z.string().trim().min(1).describe('Model, instead of the one in `model`').optional(),
  base_url: z.string().trim().min(1).describe('Address of its endpoint').optional(),
  api_key_env: z.string().trim().min(1).describe('Name of the variable in the agent’s own `.env` that holds the key of its endpoint').optional(),
  home_dir: z.string().trim().min(1).describe('Its folder; `<home>/profiles/<id>` when left out').optional(),
  enabled_toolsets: z.array(z.string().trim().min(1)).describe('The only toolsets it has').optional(),
  disabled_toolsets: z.array(z.string().trim().min(1)).describe('Toolsets it does not have').optional(),
  max_concurrent_turns: z.int().min(1).max(1000).describe('Turns that it runs at the same time').optional(),
  daily_spend_usd: z.number().min(0).describe('What it may spend on models in a day; after that it says so once and answers again the next day').optional(),
}).superRefine(checkAgentKind);

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
  defineSection('agents', z.record(agentId, agent).describe('Further agents of this gateway, by name; `main` is always there').default({}), 'live'),
  defineSection('routes', z.array(route).describe('Who answers what: the first route that fits decides').default([]), 'live', (all) => checkRouting(all as unknown as Routing)),
  defineSection('default_agent', agentId.describe('Who answers what no route fits').default('main'), 'live'),
] as const;

/** The values of those sections. */
export interface Routing {
  readonly agents: Readonly<Record<string, AgentOptions>>;
  readonly routes: readonly Route[];
  readonly default_agent: string;
}
