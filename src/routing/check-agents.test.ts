import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { homeOfAgent, liesIn } from './agent-home.ts';
import { checkAgents } from './check-agents.ts';
import type { CheckedSections } from './check-agents.ts';
import { checkRouting } from './check-routing.ts';
import { routingSections } from './options.ts';

const home = '/home/ada/.hermes';

const all = (agents: Readonly<Record<string, unknown>>, more: Partial<CheckedSections> = {}): CheckedSections => ({
  agents: routingSections[0].schema.parse(agents),
  routes: [],
  default_agent: 'main',
  tools: { disabled_toolsets: [], agents: {} },
  terminal: { backend: 'bubblewrap' },
  ...more,
});

test('an agent lives below profiles, the main one in the home itself, and either where the settings say', () => {
  assert.equal(homeOfAgent(home, 'main', undefined), home);
  assert.equal(homeOfAgent(home, 'support', {}), join(home, 'profiles', 'support'));
  assert.equal(homeOfAgent(home, 'support', { home_dir: 'elsewhere/x' }), join(home, 'elsewhere', 'x'));
  assert.equal(homeOfAgent(home, 'support', { home_dir: '/srv/support' }), '/srv/support');
  assert.equal(homeOfAgent(home, 'support', { home_dir: '~/support' }), join(homedir(), 'support'));
  assert.deepEqual([liesIn('/a', '/a/b'), liesIn('/a', '/a'), liesIn('/a/b', '/a'), liesIn('/a', '/ab'), liesIn('/a', '/a/..b')], [true, true, false, false, true]);
});

test('agents whose folders are not apart are refused', () => {
  const errors = (agents: Readonly<Record<string, unknown>>): readonly string[] => checkAgents(all(agents), home).errors.map((text) => text.split(' ')[0] ?? '');
  assert.deepEqual(errors({ a: {}, b: {}, c: { home_dir: '/srv/c' } }), []);
  assert.deepEqual(errors({ a: { home_dir: '.' } }), ['agents.a.home_dir']);
  assert.deepEqual(errors({ a: { home_dir: home } }), ['agents.a.home_dir']);
  assert.deepEqual(errors({ a: { home_dir: '/home' } }), ['agents.a.home_dir']);
  assert.deepEqual(errors({ a: {}, b: { home_dir: 'profiles/a' } }), ['agents.b.home_dir']);
  assert.deepEqual(errors({ a: {}, b: { home_dir: 'profiles/a/inside' } }), ['agents.b.home_dir']);
  assert.deepEqual(errors({ a: { home_dir: '/srv/b/inside' }, b: { home_dir: '/srv/b' } }), ['agents.a.home_dir']);
  assert.deepEqual(checkAgents(all({ a: { home_dir: '.' } }), undefined).errors, [], 'nothing can be said without a home');
});

test('commands that only rules keep from the folders of others are named', () => {
  const warned = (agents: Readonly<Record<string, unknown>>, more: Partial<CheckedSections> = {}): string => /commands of ([\w, ]+) run as/.exec(checkAgents(all(agents, { terminal: { backend: 'local' }, ...more }), home).warnings.join())?.[1] ?? '';
  assert.equal(warned({}), '', 'one agent has nobody to read');
  assert.equal(warned({ a: {} }, { terminal: { backend: 'docker' } }), '');
  assert.equal(warned({ a: {} }), 'main, a');
  assert.equal(warned({ a: { disabled_toolsets: ['terminal'] }, b: { enabled_toolsets: ['web'] }, c: { enabled_toolsets: ['all'] } }), 'main, c');
  assert.equal(warned({ a: {} }, { tools: { disabled_toolsets: ['terminal'], agents: {} } }), '');
  assert.equal(warned({ a: {} }, { tools: { disabled_toolsets: [], agents: { main: { disabled_toolsets: ['terminal'] }, a: { toolsets: ['file'], disabled_toolsets: [] } } } }), '');
});

test('tools of an agent that does not exist are reported', () => {
  assert.deepEqual(checkAgents(all({ a: {} }, { tools: { disabled_toolsets: [], agents: { b: { disabled_toolsets: [] }, a: { disabled_toolsets: [] } } } }), home).warnings, ['tools.agents.b is about an agent that does not exist']);
});

test('settings of an agent that cannot work are refused', () => {
  for (const bad of [{ provider: 'openai' }, { provider: 'custom', model: 'm' }, { base_url: 'nonsense' }, { enabled_toolsets: ['termnal'] }, { max_concurrent_turns: 0 }, { daily_spend_usd: -1 }]) assert.equal(routingSections[0].schema.safeParse({ a: bad }).success, false, JSON.stringify(bad));
  for (const good of [{}, { provider: 'openai', model: 'm' }, { provider: 'demo' }, { model: 'm' }, { enabled_toolsets: ['mcp-x', 'web'] }, { daily_spend_usd: 0 }]) assert.equal(routingSections[0].schema.safeParse({ a: good }).success, true, JSON.stringify(good));
});

test('an account says its platform too', () => {
  const routing = (...matches: readonly Readonly<Record<string, string>>[]) => ({ agents: {}, default_agent: 'main', routes: matches.map((match) => ({ match, agent: 'main' })) });
  assert.deepEqual(checkRouting(routing({ platform: 'telegram' }, { account: 'telegram@work' })).warnings, ['routes[1] never decides: whatever fits it fits routes[0] first']);
  assert.deepEqual(checkRouting(routing({ account: 'telegram@work' }, { platform: 'telegram' })).warnings, []);
  assert.match(checkRouting(routing({ account: 'telegram@work', platform: 'slack' })).warnings[0] ?? '', /never fits/);
});
