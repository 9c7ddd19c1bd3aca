import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerStatus } from '../agent/tools/mcp/server.ts';
import { newSkillBench, skillText } from '../agent/tools/skills/skills.test-support.ts';
import { groupTools, selectGroups, toolsets as knownToolsets, toolsSection } from '../agent/tools/toolsets.ts';
import type { ToolGroup } from '../agent/tools/toolsets.ts';
import { tool } from '../agent/turn.test-support.ts';
import { manualClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { waitingItems } from '../store/messages/inbox.ts';
import { turnLane } from '../store/lanes/lanes.ts';
import { eachStore } from '../../test/support/stores.ts';
import { anybody, begin, give, sampleCall, sampleReach, wait } from './command-call.test-support.ts';
import type { AfterWork, Command, CommandCall } from './contract.ts';
import type { McpReach, Reach } from './reach.ts';
import { reloadMcp } from './reload-mcp.ts';
import { reloadSkills } from './reload-skills.ts';
import { commandsOfSkills } from './skill-commands.ts';
import { skills } from './skills.ts';
import { tools } from './tools.ts';
import { toolsets } from './toolsets.ts';

const commands: readonly Command[] = [tools, toolsets, skills, reloadSkills, reloadMcp];

const made = (name: string) => tool(name, async () => '');
const all: readonly ToolGroup[] = [...groupTools(Object.values(knownToolsets).flatMap((set) => set.tools.map(made))), { toolset: 'mcp-git', tools: [made('mcp_git_log')] }];

const toolsReach = (written: object): Pick<Reach, 'tools'> => ({ tools: (place) => ({ all, selected: selectGroups(all, toolsSection.schema.parse(written), place) }) });

const mcp = (servers: Readonly<Record<string, ServerStatus>>): McpReach => ({
  report: () => Object.entries(servers).map(([name, status]) => ({ name, status, tools: 1 })),
  reconnect: () => undefined,
});

eachStore((_engine, open) => {
  /** What a command says at once and afterwards. */
  const say = async (text: string, reach: Partial<Reach>, more: Partial<CommandCall> = {}): Promise<string> => {
    const { store } = await open();
    await begin(store);
    return give(store, text, { commands, reach: sampleReach(reach), ...more });
  };

  test('/tools lists what the agent has where it is asked, by toolset, and which servers are away', async () => {
    const reach = { ...toolsReach({ platforms: { telegram: { toolsets: ['file', 'todo'] } } }), mcp: mcp({ git: { state: 'ready' }, mail: { state: 'waiting', reason: 'no licence', retryAtMs: 0 } }) };
    assert.equal(await say('/tools', reach), '**file** `read_file`, `write_file`, `patch`, `search_files`\n**todo** `todo`\n\n⚠️ **mail** is unavailable: no licence');
    assert.equal(await say('/tools', toolsReach({ toolsets: [] })), 'I have no tools here.');
  });

  test('/tools with a name says what that tool does, if the agent has it', async () => {
    assert.match(await say('/tools mcp_git_log', toolsReach({})), /^\*\*mcp_git_log\*\* \(mcp-git\)\n/);
    assert.match(await say('/tools todo', toolsReach({ toolsets: ['file'] })), /no tool named todo/);
  });

  test('/toolsets shows all groups and marks those that are on', async () => {
    const text = await say('/toolsets', toolsReach({ toolsets: ['mcp'] }));
    assert.match(text, /^▫️ \*\*file\*\* .* \(4 tools\)$/m);
    assert.match(text, /^✅ \*\*mcp-git\*\* Tools of an MCP server \(1 tool\)$/m);
  });

  test('where another program is the agent, there is nothing to list', async () => {
    for (const name of ['tools', 'toolsets']) assert.match(await say(`/${name}`, {}), /I cannot list them/);
    for (const name of ['skills', 'reload-skills']) assert.match(await say(`/${name}`, {}), /no skills of ours/);
    assert.match(await say('/reload-mcp', {}), /There are no MCP servers/);
  });

  test('/skills lists them and shows one; what is broken is for those who can mend it', async () => {
    await using bench = await newSkillBench();
    await bench.shelve('work/review', skillText('review', { yaml: 'metadata:\n  hermes:\n    tags: [git]\n' }));
    await bench.shelve('bad', 'no yaml');
    await bench.library.reload();
    const reach = { skills: () => bench.library };
    assert.match(await say('/skills', reach), /^\/review — What review does\n\n⚠️ `.*bad\/SKILL\.md` cannot be used/);
    assert.equal(await say('/skills', reach, { access: anybody }), '/review — What review does');
    assert.equal(await say('/skills /review', reach), '**review** What review does\n_work, git_\n\nHow review is done.');
    assert.match(await say('/skills none', reach), /There is no skill none/);
  });

  test('/reload-skills reads the folder and says what is new', async () => {
    await using bench = await newSkillBench();
    await bench.shelve('one');
    const reach = { skills: () => bench.library };
    assert.equal(await say('/reload-skills', reach), '🔄 1 skill.\nnew: `one`');
    assert.equal(await say('/reload_skills', reach), '🔄 1 skill.');
    assert.match(await say('/reload-skills', reach, { access: anybody }), /for admins/);
  });

  test('/reload-mcp asks, connects anew and says how the servers are', async () => {
    let reconnected = 0;
    const reach = { mcp: { ...mcp({ git: { state: 'ready' }, mail: { state: 'login', reason: 'it wants a login' } }), reconnect: () => void (reconnected += 1) } };
    assert.match(await say('/reload-mcp', reach, { asks: true }), /^ASKS Connect all MCP servers anew\?/);
    assert.equal(reconnected, 0);
    assert.equal(await say('/reload-mcp', reach, { asks: true, confirmed: true }), '🔄 MCP servers:\n**git** connected, 1 tool\n**mail** is unavailable: it wants a login');
    assert.equal(reconnected, 1);
  });

  test('/reload-mcp does not wait for ever for a server', async () => {
    const { store } = await open();
    const works: AfterWork[] = [];
    const clock = manualClock();
    await store.write((tx) => reloadMcp.run(tx, sampleCall({ reach: sampleReach({ mcp: mcp({ slow: { state: 'connecting' } }) }), after: (work) => void works.push(work) })));
    const answer = works[0]?.({ store, clock, log: silentLogger, signal: new AbortController().signal });
    await clock.advance(15_000);
    assert.equal(await answer, '🔄 MCP servers:\n**slow** is being connected');
  });

  test('a skill is called by its name, and becomes a message of the person', async () => {
    await using bench = await newSkillBench();
    await bench.shelve('review');
    await bench.library.reload();
    const { store } = await open();
    await begin(store);
    const called = { commands: commandsOfSkills(bench.library.shelf.skills) };
    assert.equal(await give(store, '/review look at main.ts', called), '');
    const [item] = await store.read((db) => waitingItems(db, turnLane('s1'), 10));
    assert.match(item?.event.text ?? '', /How review is done\.[\s\S]*look at main\.ts$/);
    await wait(store, 'a', 'b');
    assert.match(await give(store, '/review', called), /3 of your messages are already waiting/);
  });
});
