import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { InboundEvent } from '../core/message.ts';
import { routingSections } from './options.ts';
import type { Route, RouteMatch, Routing } from './options.ts';
import { checkRouting } from './check-routing.ts';
import { matchingRoute, routedAgent } from './select-agent.ts';

const event: Pick<InboundEvent, 'account' | 'chat' | 'sender'> = {
  account: 'discord@work',
  chat: { id: 'T1', type: 'thread', threadId: 'T1', scopeId: 'G1', parentId: 'C1' },
  sender: { id: '7', altId: 'uuid-7', isBot: false },
};
const all: Required<RouteMatch> = { platform: 'discord', account: 'discord@work', chat_id: 'T1', thread_id: 'T1', user_id: '7', user_id_alt: 'uuid-7', chat_type: 'thread', guild_id: 'G1', parent_chat_id: 'C1' };
const route = (match: RouteMatch, agent = 'support'): Route => ({ match, agent });
const agentOf = (...routes: Route[]): string | undefined => matchingRoute(routes, event)?.route.agent;

test('each key is compared with what it names, and all must fit', () => {
  for (const key of Object.keys(all) as (keyof RouteMatch)[]) {
    assert.equal(agentOf(route({ [key]: all[key] })), 'support', key);
    assert.equal(agentOf(route({ ...all, [key]: 'other' } as RouteMatch)), undefined, key);
  }
  assert.equal(agentOf(route(all)), 'support');
});

test('the first route that fits decides, however special a later one is', () => {
  assert.equal(agentOf(route({ platform: 'telegram' }, 'a'), route({ platform: 'discord' }, 'b'), route(all, 'c')), 'b');
});

test('a route that names nothing fits nothing', () => {
  assert.equal(agentOf(route({})), undefined);
});

test('what is absent is not equal to anything', () => {
  const bare = { account: 'telegram', chat: { id: '42', type: 'dm' }, sender: { id: '7', isBot: false } } as const;
  for (const key of ['thread_id', 'user_id_alt', 'guild_id', 'parent_chat_id'] as const) assert.equal(matchingRoute([route({ [key]: 'undefined' })], bare), undefined, key);
});

const parse = (value: { agents?: unknown; routes?: unknown; default_agent?: unknown }): Routing => {
  const [agents, routes, byDefault] = routingSections;
  return { agents: agents.schema.parse(value.agents), routes: routes.schema.parse(value.routes), default_agent: byDefault.schema.parse(value.default_agent) };
};

test('what no route fits is answered by the default, and why is said', () => {
  const routing = (routes: readonly Route[], more: Partial<Routing> = {}): Routing => ({ agents: {}, routes, default_agent: 'main', ...more });
  assert.deepEqual(routedAgent(routing([]), event), { id: 'main', why: 'by default' });
  assert.deepEqual(routedAgent(routing([route({ platform: 'telegram' })], { default_agent: 'other' }), event), { id: 'other', why: 'by default' });
  assert.deepEqual(routedAgent(routing([route({ platform: 'telegram' }), route({ guild_id: 'G1', chat_id: 'T1' })]), event), { id: 'support', why: 'by routes[1] (guild_id G1, chat_id T1)' });
});

test('an id written as a number is the id it stands for', () => {
  assert.equal(parse({ routes: [{ match: { chat_id: -100_123 }, agent: 'main' }] }).routes[0]?.match.chat_id, '-100123');
});

test('unknown keys and names that are no names are refused', () => {
  for (const bad of [{ routes: [{ match: { chat: '1' }, agent: 'main' }] }, { routes: [{ match: { chat_id: '1' }, agent: '../evil' }] }, { agents: { '../evil': {} } }, { agents: { A: {} } }, { agents: { a: { modle: 'x' } } }]) {
    assert.throws(() => parse(bad), JSON.stringify(bad));
  }
});

test('routes to nobody are errors, routes that never decide are named', () => {
  const routing = parse({
    agents: { support: {} },
    routes: [
      { match: { platform: 'telegram' }, agent: 'support' },
      { match: { platform: 'telegram', chat_id: '1' }, agent: 'main' },
      { match: {}, agent: 'main' },
      { match: { platform: 'slack' }, agent: 'nobody' },
    ],
    default_agent: 'ghost',
  });
  const { errors, warnings } = checkRouting(routing);
  assert.deepEqual(errors.map((text) => text.split(',')[0]), ['routes[3] names the agent nobody', 'default_agent names ghost']);
  assert.deepEqual(warnings.map((text) => text.split(' ')[0]), ['routes[1]', 'routes[2]']);
});

test('a route is reported as shadowed exactly when it can never be the first to fit', () => {
  const value = fc.constantFrom('1', '2');
  const match = fc.record({ chat_id: value, user_id: value, thread_id: value }, { requiredKeys: [] }).map((found) => found as RouteMatch);
  const place = fc.record({ chat_id: value, user_id: value, thread_id: value });
  fc.assert(
    fc.property(fc.array(match, { minLength: 1, maxLength: 5 }), fc.array(place, { minLength: 20, maxLength: 40 }), (matches, places) => {
      const routes = matches.map((each) => route(each, 'main'));
      const dead = new Set(checkRouting({ agents: {}, routes, default_agent: 'main' }).warnings.map((text) => Number(/\d+/.exec(text)?.[0])));
      for (const at of places) {
        const found = matchingRoute(routes, { account: 'telegram', chat: { id: at.chat_id, type: 'group', threadId: at.thread_id }, sender: { id: at.user_id, isBot: false } });
        assert.ok(found === undefined || !dead.has(found.index));
      }
    }),
  );
});
