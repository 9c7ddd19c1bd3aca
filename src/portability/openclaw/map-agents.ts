import { at, isRecord, wordAt } from '../plain-json.ts';
import type { Plain } from '../plain-json.ts';
import type { OpenclawAgent } from './agents.ts';
import { accountName, bareId, channels } from './channels.ts';
import { chosenModel } from './map-models.ts';
import { leave } from './mapping.ts';
import type { Mapping } from './mapping.ts';

const mapAgent = (mapping: Mapping, root: Plain, { id, options }: OpenclawAgent): Plain => {
  const model = chosenModel(mapping, root, { at: `agents.list ${id}`, value: options['model'] });
  const description = wordAt(options, 'description') ?? wordAt(options, 'name') ?? wordAt(options, 'identity', 'name');
  return { ...(description !== undefined && { description: description.slice(0, 500) }), ...model };
};

interface Route {
  readonly match: Readonly<Record<string, string>>;
  readonly agent: string;
}

const chatTypes: Readonly<Record<string, string>> = { direct: 'dm', dm: 'dm', group: 'group', channel: 'channel' };

const matchOf = (match: unknown): Route['match'] | undefined => {
  const channel = wordAt(match, 'channel');
  const [kind, peer] = [wordAt(match, 'peer', 'kind'), wordAt(match, 'peer', 'id')];
  if (channel === undefined || channels[channel] === undefined || at(match, 'roles') !== undefined || peer === '*') return undefined;
  const account = wordAt(match, 'accountId');
  const guild = wordAt(match, 'guildId') ?? wordAt(match, 'teamId');
  const isDirect = chatTypes[kind ?? ''] === 'dm';
  return {
    ...(account === '*' ? { platform: channel } : { account: accountName(channel, account) }),
    ...(guild !== undefined && { guild_id: guild }),
    ...(peer !== undefined && (isDirect ? { user_id: bareId(channel, peer), chat_type: 'dm' } : { chat_id: bareId(channel, peer) })),
  };
};

/** There the closest match wins, here the first. */
const closeness = ({ match }: Route): number => (match['user_id'] !== undefined || match['chat_id'] !== undefined ? 4 : 0) + (match['guild_id'] === undefined ? 0 : 2) + (match['platform'] === undefined ? 1 : 0);

const routesOf = (mapping: Mapping, root: Plain, agents: readonly OpenclawAgent[]): readonly Route[] => {
  const written = at(root, 'bindings');
  const routes = (Array.isArray(written) ? written.filter(isRecord) : []).flatMap((binding): Route[] => {
    const id = wordAt(binding, 'agentId')?.toLowerCase();
    const agent = agents.find((each) => each.id === id && each.isConfigured)?.as;
    const match = matchOf(binding['match']);
    if (agent !== undefined && match !== undefined) return [{ match, agent }];
    leave(mapping, `bindings: ${id ?? '?'} for ${JSON.stringify(binding['match'] ?? null)}`, agent === undefined ? 'there is no such agent' : 'there is no route that says the same; hermes agent add --route makes one');
    return [];
  });
  return routes.toSorted((a, b) => closeness(b) - closeness(a));
};

/** Further agents, and who of them answers where. */
export const mapAgents = (mapping: Mapping, root: Plain, agents: readonly OpenclawAgent[]): void => {
  const further = agents.filter(({ as, isConfigured }) => as !== 'main' && isConfigured);
  if (further.length > 0) mapping.settings['agents'] = Object.fromEntries(further.map((agent) => [agent.as, mapAgent(mapping, root, agent)]));
  const routes = routesOf(mapping, root, agents);
  if (routes.length > 0) mapping.settings['routes'] = routes;
};
