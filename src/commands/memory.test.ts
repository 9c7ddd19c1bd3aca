import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { AgentMemory } from '../agent/memory/agent-memory.ts';
import { memorySection } from '../agent/memory/options.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { noUsage } from '../core/transcript.ts';
import { addMemoryProposal } from '../store/agents/memory-proposals.ts';
import { addTurnTotals } from '../store/sessions/turn-totals.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { anybody, begin, owner, sampleCall, sampleReach, sampleSettings, talk } from './command-call.test-support.ts';
import type { AfterWork, Command, CommandCall } from './contract.ts';
import { insights } from './insights.ts';
import { memory } from './memory.ts';
import { personality } from './personality.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-commands-'));
});
afterEach(() => rm(home, { recursive: true }));

const { signal } = new AbortController();

/** What the chat is told at once and by what the command does afterwards. */
const give = async (store: Store, command: Command, args: string, more: Partial<CommandCall> = {}): Promise<string> => {
  const works: AfterWork[] = [];
  const said = [await store.write((tx) => command.run(tx, sampleCall({ args, after: (work) => void works.push(work), ...more })))];
  for (const work of works) {
    const done = await work({ store, clock: systemClock, log: silentLogger, signal });
    said.push(typeof done === 'string' ? done : done.text);
  }
  return said.filter((part) => part !== '').join('\n');
};

const memoryOf = (store: Store, options: object = {}): AgentMemory =>
  new AgentMemory({ agent: 'main', home, options: memorySection.schema.parse(options), store, owner: 'node', clock: systemClock, log: silentLogger, redact: (text) => text });

const reachOf = (kept: AgentMemory) => ({ reach: sampleReach({ memory: () => kept }) });

const note = (kept: AgentMemory, content: string, target: 'memory' | 'user' = 'memory') =>
  kept.change({ target, change: { action: 'add', content } }, { sessionId: 's1', agent: 'main', platform: 'telegram', account: 'telegram', userId: '7', isPrivate: true }, signal);

const propose = (store: Store, content: string, userId = '7', sessionId = 's1') =>
  store.write((tx) => addMemoryProposal(tx, { agent: 'main', sessionId, account: 'telegram', userId, target: 'user', change: { action: 'add', content } }, 50));

eachStore((_engine, open) => {
  test('/memory shows what is kept, without secrets, and says where nothing is', async () => {
    const { store } = await open();
    await begin(store);
    const kept = memoryOf(store);
    assert.equal(await give(store, memory, '', reachOf(kept)), '**My notes** (0% used: 0 of 2,200 characters)\n(nothing yet)\n\n**What I know about you** (0% used: 0 of 1,375 characters)\n(nothing yet)');
    await note(kept, 'The token is sk-secret');
    await note(kept, 'Has a cat', 'user');
    assert.match(await give(store, memory, '', reachOf(kept)), /- The token is \*\*\*\n[\s\S]*- Has a cat$/);
    assert.match(await give(store, memory, ''), /I keep no memories here\. The owner can switch them on/);
    assert.match(await give(store, memory, 'burn'), /I keep no memories/);
    assert.match(await give(store, memory, 'burn', reachOf(kept)), /^Usage:/);
    assert.match(await give(store, memory, 'approve', reachOf(kept)), /^Usage:/);
  });

  test('/memory lets people decide about what waits: once, and only about their own', async () => {
    const { store } = await open();
    await begin(store);
    const kept = memoryOf(store, { write_approval: true });
    const mine = await propose(store, 'Has a cat');
    const other = await propose(store, 'Somebody else’s', '8', 's9');
    const asAnybody = { ...reachOf(kept), access: anybody };
    assert.equal(await give(store, memory, 'pending', asAnybody), `**${mine}** user: add “Has a cat”\nDecide with /memory approve <number|all> or /memory reject <number|all>.`);
    assert.equal(await give(store, memory, `approve ${other}`, asAnybody), `No memory with the number ${other} is waiting for you.`);
    assert.equal(await give(store, memory, `approve ${mine}`, asAnybody), `✅ ${mine} kept.`);
    assert.equal(await give(store, memory, `approve ${mine}`, asAnybody), `No memory with the number ${mine} is waiting for you.`);
    assert.deepEqual((await kept.entries('user', { account: 'telegram', userId: '7' }))?.entries, ['Has a cat']);
    assert.equal(await give(store, memory, 'reject all', { ...reachOf(kept), access: owner }), `🗑️ ${other} dropped.`);
    assert.equal(await give(store, memory, 'pending', reachOf(kept)), 'No memory is waiting for a yes.');
  });

  test('/memory approve of what no longer fits keeps it waiting and says so; what is there already is done', async () => {
    const { store } = await open();
    await begin(store);
    const kept = memoryOf(store, { user_char_limit: 200 });
    const twice = await propose(store, 'Has a cat');
    const long = await propose(store, 'x'.repeat(300));
    await note(kept, 'Has a cat', 'user');
    assert.equal(await give(store, memory, `approve ${twice}`, reachOf(kept)), `✅ ${twice} kept.`);
    assert.match(await give(store, memory, `approve ${long}`, reachOf(kept)), /was not kept: it no longer fits/);
    assert.match(await give(store, memory, 'pending', reachOf(kept)), new RegExp(`^\\*\\*${long}\\*\\*`));
  });

  test('/personality shows, chooses and goes back, for this conversation', async () => {
    const { store } = await open();
    await begin(store);
    const settings = sampleSettings({ agent: { personality: 'pirate', personalities: { Butler: 'Speak like a butler.' } } });
    const chosen = async () => (await store.read((db) => findSession(db, 's1')))?.settings.personality;
    assert.match(await give(store, personality, '', { settings }), /^Here I speak as `pirate`\. I can also speak as:\n- `butler` Speak like a butler\.\n- `concise`/);
    assert.equal(await give(store, personality, 'Butler', { settings }), 'From the next answer on, I speak as `butler` in this conversation.');
    assert.equal(await chosen(), 'butler');
    assert.match(await give(store, personality, 'nobody', { settings }), /There is no personality “nobody”/);
    assert.equal(await chosen(), 'butler');
    assert.equal(await give(store, personality, 'none', { settings }), 'From the next answer on, I speak plainly in this conversation.');
    assert.equal(await give(store, personality, 'default', { settings }), 'From the next answer on, I speak as `pirate` in this conversation.');
    assert.equal(await chosen(), undefined);
  });

  test('/insights shows everybody’s use to whoever administers, in private, and otherwise only the person’s own', async () => {
    const { store } = await open();
    await begin(store);
    await begin(store, 's2', '8');
    await talk(store, 'hello');
    const used = (sessionId: string, chatId: string, model: string, reason = 'completed') =>
      store.write(async (tx) => {
        await tx.q
          .insertInto('turns')
          .values({ session_id: sessionId, lane: `turn:${sessionId}`, state: 'done', attempts: 1, target: JSON.stringify({ account: 'telegram', chatId, chatType: 'dm' }), preview: null, exit_reason: reason, error: null, model, input_tokens: 12_000, output_tokens: 500, started_at: tx.now, ended_at: tx.now })
          .execute();
        await addTurnTotals(tx, sessionId, { usage: noUsage, model });
      });
    await used('s1', '7', 'small');
    await used('s1', '7', 'large');
    await used('s2', '8', 'small', 'model_error');
    const all = await give(store, insights, '');
    assert.match(all, /^📊 \*\*The last 7 days\*\*, everybody’s\n\*\*Answers\*\* 3, 1 of them failed\n/);
    assert.match(all, /\*\*Tokens\*\* 36k in, 1500 out\n\*\*Models\*\* `small` 2, `large` 1\n\*\*Busiest places\*\* `telegram:7` 2, `telegram:8` 1\n```\n\d\d-\d\d █{12} 3\n```$/);
    const own = /yours\n\*\*Answers\*\* 2\n\*\*Conversations\*\* 1, with 2 messages\n/;
    assert.match(await give(store, insights, '30', { access: anybody }), own);
    assert.match(await give(store, insights, '', { event: sampleEvent({ chat: { id: '-100', type: 'group' }, sender: { id: '7', isBot: false } }) }), own);
    assert.equal(await give(store, insights, '', { agent: 'coder' }), 'Nothing was answered in that time.');
    for (const args of ['0', '91', 'x', '1.5']) assert.match(await give(store, insights, args), /^Usage:/);
  });
});
