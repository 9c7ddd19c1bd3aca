import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tool } from '../turn.test-support.ts';
import { groupTools, selectGroups, selectTools, toolsets, toolsSection } from './toolsets.ts';
import type { ToolGroup } from './toolsets.ts';

const made = (name: string) => tool(name, async () => 'done');

const all: readonly ToolGroup[] = [
  ...groupTools(Object.values(toolsets).flatMap(({ tools }) => tools.map(made))),
  { toolset: 'mcp-git', tools: [made('mcp_git_log')] },
  { toolset: 'mcp-mail', tools: [made('mcp_mail_send')] },
];

const select = (written: object, account: string, agent = 'main'): readonly string[] => selectGroups(all, toolsSection.schema.parse(written), { account, agent }).map(({ toolset }) => toolset);

const everything = all.map(({ toolset }) => toolset);

test('without settings a chat has everything', () => {
  assert.deepEqual(select({}, 'telegram'), everything);
  assert.deepEqual(select({}, 'telegram@work'), everything);
});

test('some places have less by themselves', () => {
  assert.deepEqual(select({}, 'webhook'), ['web', 'clarify', 'time']);
  assert.ok(!select({}, 'api_server').includes('clarify') && !select({}, 'cron').includes('cronjob') && !select({}, 'acp').includes('messaging'));
  assert.ok(select({}, 'acp').includes('mcp-git'));
  assert.deepEqual(select({ toolsets: ['hermes-api_server'] }, 'telegram'), select({}, 'api_server'));
  assert.deepEqual(select({}, 'telegram', 'constructor'), everything);
});

test('the order is that of the groups, whatever the order of the settings', () => {
  assert.deepEqual(select({ toolsets: ['todo', 'web', 'file'] }, 'telegram'), ['file', 'web', 'todo']);
});

test('a platform’s or an account’s list takes the place of the general one', () => {
  const written = { toolsets: ['web'], platforms: { telegram: { toolsets: ['file', 'todo'] }, 'telegram@work': { toolsets: ['clarify'] }, discord: { disabled_toolsets: ['web'] } } };
  assert.deepEqual(select(written, 'telegram'), ['file', 'todo']);
  assert.deepEqual(select(written, 'telegram@home'), ['file', 'todo']);
  assert.deepEqual(select(written, 'telegram@work'), ['clarify']);
  assert.deepEqual(select(written, 'slack'), ['web']);
  assert.deepEqual(select(written, 'discord'), []);
});

test('an agent’s list narrows down and never widens', () => {
  const written = { agents: { clerk: { toolsets: ['file', 'terminal', 'web'] } } };
  assert.deepEqual(select(written, 'telegram', 'clerk'), ['file', 'terminal', 'web']);
  assert.deepEqual(select(written, 'webhook', 'clerk'), ['web']);
  assert.deepEqual(select(written, 'telegram', 'main'), everything);
});

test('what is disabled anywhere stays disabled', () => {
  const written = { disabled_toolsets: ['terminal'], platforms: { telegram: { toolsets: ['all'], disabled_toolsets: ['mcp-mail'] } }, agents: { clerk: { toolsets: ['hermes-telegram'], disabled_toolsets: ['file'] } } };
  const left = select(written, 'telegram', 'clerk');
  assert.deepEqual(everything.filter((name) => !left.includes(name)), ['file', 'terminal', 'mcp-mail']);
});

test('MCP servers can be chosen together or one by one', () => {
  assert.deepEqual(select({ toolsets: ['mcp'] }, 'telegram'), ['mcp-git', 'mcp-mail']);
  assert.deepEqual(select({ toolsets: ['mcp-git'] }, 'telegram'), ['mcp-git']);
  assert.ok(!select({ disabled_toolsets: ['mcp'] }, 'telegram').some((name) => name.startsWith('mcp')));
});

test('a name that is no toolset is a mistake in the settings', () => {
  for (const name of ['fiel', 'mcp-', 'Terminal', '']) assert.equal(toolsSection.schema.safeParse({ toolsets: [name] }).success, false, name);
});

test('a tool that the table does not know names its toolset itself', () => {
  assert.deepEqual(groupTools([{ ...made('honcho_search'), toolset: 'memory' }, made('memory')]).map(({ toolset, tools }) => [toolset, tools.length]), [['memory', 2]]);
});

test('a tool without a toolset is a mistake in the program', () => {
  assert.throws(() => groupTools([made('stray')]), /stray/);
});

test('the tools of the selected groups come as one list', () => {
  assert.deepEqual(selectTools(all, toolsSection.schema.parse({ toolsets: ['mcp', 'file'] }), { account: 'telegram', agent: 'main' }).map(({ definition }) => definition.name), ['read_file', 'write_file', 'patch', 'search_files', 'mcp_git_log', 'mcp_mail_send']);
});
