import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { newImportReport } from '../import-report.ts';
import type { Plain } from '../plain-json.ts';
import type { OpenclawAgent } from './agents.ts';
import { mapOpenclawConfig } from './read-config.ts';

const main: OpenclawAgent = { id: 'main', as: 'main', options: {}, isConfigured: true };

const map = (root: Plain, rest: { readonly agents?: readonly OpenclawAgent[]; readonly logins?: readonly string[]; readonly variables?: readonly (readonly [string, string])[] } = {}) => {
  const report = newImportReport();
  const { config, env } = mapOpenclawConfig({ root, variables: new Map(rest.variables) }, { agents: rest.agents ?? [main], logins: rest.logins ?? [], report });
  return { config: parse(config ?? '') as unknown, env: (env ?? '').trim().split('\n'), left: report.lines.map(({ what, why }) => `${what} — ${why ?? ''}`) };
};

test('a model of a provider that is known is taken with its key, also under its other name', () => {
  const { config, env } = map({ agents: { defaults: { model: { primary: 'google/gemini-3-pro', fallbacks: ['acme/x', 'openai/gpt-5'] } } }, models: { providers: { google: { apiKey: 'g-1' } } } });
  assert.deepEqual(config, { model: { provider: 'gemini', default: 'gemini-3-pro' }, fallback_providers: [{ provider: 'openai', model: 'gpt-5' }] });
  assert.deepEqual(env, ["GEMINI_API_KEY='g-1'"]);
});

test('an endpoint of one’s own is taken with its address and key', () => {
  const { config } = map({ agents: { defaults: { model: 'mine/some/model' } }, models: { providers: { mine: { baseUrl: 'http://10.0.0.2/v1', apiKey: 'k', api: 'openai-completions' } } } });
  assert.deepEqual(config, { model: { provider: 'custom', default: 'some/model', base_url: 'http://10.0.0.2/v1', api_key: 'k' } });
});

test('a model of nobody who is known here is left and named', () => {
  const { config, left } = map({ agents: { defaults: { model: 'acme/x' } } });
  assert.equal(config, null);
  assert.match(left[0] ?? '', /agents\.defaults\.model: acme\/x — this gateway has no provider "acme"/);
});

test('keys of logins are taken, logins by a browser are not', () => {
  const { env, left } = map({}, { logins: [JSON.stringify({ profiles: { a: { type: 'api_key', provider: 'anthropic', key: 'sk-1' }, b: { type: 'oauth', provider: 'openai-codex', access: 'x' }, c: { type: 'api_key', provider: 'anthropic', key: 'sk-2' } } })] });
  assert.deepEqual(env, ["ANTHROPIC_API_KEY='sk-1'"]);
  assert.match(left.join('\n'), /login b — it belongs to OpenClaw/);
});

test('secrets that are kept elsewhere are named and not guessed', () => {
  const channels = { telegram: { botToken: '${NOWHERE}' }, discord: { token: { source: 'env', provider: 'default', id: 'D' } }, slack: { botToken: { source: 'exec', id: 'x' }, appToken: 'xapp-1' } };
  const { env, left } = map({ channels }, { variables: [['D', 'token-of-discord']] });
  assert.deepEqual(env, ["D='token-of-discord'", "DISCORD_BOT_TOKEN='token-of-discord'", "SLACK_APP_TOKEN='xapp-1'"]);
  assert.deepEqual(left.map((line) => line.split(' — ')[0]), ['openclaw.json channels.telegram.botToken', 'openclaw.json channels.slack.botToken']);
});

test('the device of another program is not taken over', () => {
  const { config, env, left } = map({ channels: { matrix: { homeserver: 'https://m.example.org', userId: '@bot:example.org', accessToken: 'syt_x', dm: { allowFrom: ['@sam:example.org'] } } } });
  assert.deepEqual(config, { platforms: { matrix: { homeserver: 'https://m.example.org', user_id: '@bot:example.org', allowed_users: ['@sam:example.org'], require_mention: true } } });
  assert.deepEqual(env, ['']);
  assert.match(left.join('\n'), /channels\.matrix\.accessToken — it belongs to a device/);
});

test('people are let in by ids, never by names or all at once', () => {
  const { config, left } = map({ channels: { telegram: { botToken: '1:x', allowFrom: ['*', 'tg:7', 8, '@sam', 'telegram:7'], groupAllowFrom: ['9'] }, discord: { dm: { allowFrom: ['<@!5>', 'user:6'] } } } });
  assert.deepEqual(config, { platforms: { telegram: { allowed_users: ['7', '8'], group_allowed_users: ['9'], require_mention: true }, discord: { allowed_users: ['5', '6'], require_mention: true } } });
  assert.match(left.join('\n'), /allowFrom: "\*" — letting everybody in has a switch of its own/);
  assert.match(left.join('\n'), /allowFrom: @sam — people are let in by their ids/);
});

test('groups need a mention as they did there', () => {
  const { config, left } = map({ channels: { telegram: { botToken: '1:x', groups: { '*': { requireMention: false }, '-5': { requireMention: true } } }, discord: { token: 't', guilds: { 1: { channels: { 22: { requireMention: false, skills: ['x'] } } } } } } });
  assert.deepEqual(config, { platforms: { telegram: { require_mention: false }, discord: { require_mention: true, free_response_channels: ['22'] } } });
  assert.match(left.join('\n'), /channels\.discord, of groups: skills/);
});

test('further accounts have what the channel says, and their own on top', () => {
  const { config, env } = map({ channels: { telegram: { allowFrom: [1], accounts: { default: { botToken: '1:x' }, Work: { botToken: '2:y', allowFrom: [2] } } } } });
  assert.deepEqual(env, ["TELEGRAM_BOT_TOKEN='1:x'"]);
  assert.deepEqual(config, { platforms: { telegram: { allowed_users: ['1'], require_mention: true, accounts: { work: { token: '2:y', allowed_users: ['2'], require_mention: true } } } } });
});

test('agents become agents, and the closest of their bindings the first of our routes', () => {
  const work: OpenclawAgent = { id: 'work', as: 'work', options: { id: 'work', name: 'At work', model: { primary: 'openrouter/a/b' } }, isConfigured: true };
  const bindings = [
    { agentId: 'work', match: { channel: 'telegram', accountId: '*' } },
    { agentId: 'work', match: { channel: 'telegram' } },
    { agentId: 'main', match: { channel: 'telegram', accountId: 'biz', peer: { kind: 'direct', id: 'tg:7' } } },
    { agentId: 'work', match: { channel: 'discord', guildId: '3' } },
    { agentId: 'work', match: { channel: 'discord', guildId: '3', roles: ['x'] } },
    { agentId: 'gone', match: { channel: 'telegram' } },
  ];
  const { config, left } = map({ bindings }, { agents: [main, work] });
  assert.deepEqual(config, {
    agents: { work: { description: 'At work', provider: 'openrouter', model: 'a/b' } },
    routes: [
      { match: { account: 'telegram@biz', user_id: '7', chat_type: 'dm' }, agent: 'main' },
      { match: { account: 'discord', guild_id: '3' }, agent: 'work' },
      { match: { account: 'telegram' }, agent: 'work' },
      { match: { platform: 'telegram' }, agent: 'work' },
    ],
  });
  assert.equal(left.length, 2);
});

test('MCP servers and the daily beginning anew are taken, and what has no counterpart is named', () => {
  const { config, left } = map({ mcp: { servers: { time: { command: 'uvx', args: ['mcp-time'], transport: 'stdio' } } }, session: { dmScope: 'main', reset: { mode: 'daily', atHour: 5, idleMinutes: 60 } }, browser: {}, gateway: {} });
  assert.deepEqual(config, { mcp_servers: { time: { command: 'uvx', args: ['mcp-time'] } }, session_reset: { mode: 'both', at_hour: 5, idle_minutes: 60 } });
  assert.deepEqual(left, ['openclaw.json browser, gateway — these have no counterpart that could be chosen for you']);
});
