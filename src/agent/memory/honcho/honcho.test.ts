import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { ToolError } from '../../tools/contract.ts';
import { createMemoryProvider } from '../create-provider.ts';
import { memorySection } from '../options.ts';
import { MemoryError } from '../provider.ts';
import type { MemoryProvider, MemorySession, RememberedTurn } from '../provider.ts';
import { newHonchoProvider } from './index.ts';
import { honchoName } from './names.ts';
import { newHonchoSimulator } from './simulator.ts';
import type { HonchoSimulator } from './simulator.ts';

let simulator: HonchoSimulator;
let provider: MemoryProvider;
const { signal } = new AbortController();
const options = (more: object = {}) => memorySection.schema.parse({ honcho: { base_url: simulator.url, api_key: 'k', timeout_ms: 60_000, ...more } }).honcho;

beforeEach(async () => {
  simulator = await newHonchoSimulator();
  provider = newHonchoProvider(options(), 'main');
});
afterEach(() => simulator[Symbol.asyncDispose]());

const dm: MemorySession = { sessionId: '20260101_120000_abcdef12', agent: 'main', platform: 'telegram', account: 'telegram', userId: '7', userName: 'Ada', isPrivate: true };
const group: MemorySession = { sessionId: '20260101_130000_abcdef12', agent: 'main', platform: 'telegram', account: 'telegram', isPrivate: false };
const turn = (more: Partial<RememberedTurn> = {}): RememberedTurn => ({ key: 'turn:1', user: 'I moved to Paris', assistant: 'How nice', atMs: Date.UTC(2026, 0, 1), repeated: false, ...more });
const said = (session: MemorySession, workspace = 'hermes') => simulator.workspace(workspace)?.sessions.get(session.sessionId)?.messages ?? [];
const call = (name: string, args: Record<string, unknown>, session = dm) => provider.handleToolCall({ name, args }, session, signal);

test('a turn is kept with who said what and when', async () => {
  await provider.initialize(dm, signal);
  await provider.syncTurn?.(turn(), dm, signal);
  assert.deepEqual(said(dm).map(({ peer_id, content, created_at, metadata }) => [peer_id, content, created_at, metadata]), [
    ['user-telegram-7', 'I moved to Paris', '2026-01-01T00:00:00.000Z', { hermes_key: 'turn:1', hermes_part: 0 }],
    ['agent-main', 'How nice', '2026-01-01T00:00:00.000Z', { hermes_key: 'turn:1', hermes_part: 1 }],
  ]);
  const session = simulator.workspace('hermes')?.sessions.get(dm.sessionId);
  assert.deepEqual([[...(session?.peers ?? [])], session?.metadata], [['user-telegram-7', 'agent-main'], { platform: 'telegram', account: 'telegram', agent: 'main', user_name: 'Ada' }]);
});

test('a turn whose answer was lost is there once', async () => {
  await provider.initialize(dm, signal);
  simulator.fail(/\/messages$/, { type: 'lost_answer' });
  await assert.rejects(async () => provider.syncTurn?.(turn(), dm, signal), (error) => error instanceof MemoryError && error.code === 'unavailable');
  await provider.syncTurn?.(turn({ repeated: true }), dm, signal);
  assert.equal(said(dm).length, 2);
});

test('a long text is kept in pieces that Honcho takes, whole', async () => {
  await provider.initialize(dm, signal);
  const long = '👋 long '.repeat(7000);
  await provider.syncTurn?.(turn({ user: long, assistant: '' }), dm, signal);
  assert.equal(said(dm).map((message) => message.content).join(''), long);
  assert.ok(said(dm).length > 1);
});

test('in private, what is known about the person comes back', async () => {
  await provider.initialize(dm, signal);
  assert.equal(await provider.prefetch?.('Where do I live?', dm, signal), '');
  await provider.onMemoryWrite?.({ key: 'w1', action: 'add', target: 'user', content: 'Ada lives in Paris' }, dm, signal);
  simulator.workspace('hermes')?.cards.set('user-telegram-7', ['Name: Ada']);
  assert.equal(await provider.prefetch?.('Is Paris where I live?', dm, signal), 'Profile:\nName: Ada\n\nAda lives in Paris');
  assert.equal(await call('honcho_profile', {}), '- Name: Ada');
  assert.equal(await call('honcho_search', { query: 'paris' }), '- Ada lives in Paris');
  assert.equal(await call('honcho_search', { query: 'shoes' }), 'Nothing is remembered about that.');
  assert.equal(await call('honcho_context', { query: 'lives where?' }), 'Ada lives in Paris');
  assert.equal(await call('honcho_conclude', { conclusion: 'Ada has a cat' }), 'Remembered.');
  assert.equal(await call('honcho_search', { query: 'cat' }), '- Ada has a cat');
});

test('where others read along, only that conversation is looked at', async () => {
  await provider.initialize(dm, signal);
  await provider.onMemoryWrite?.({ key: 'w1', action: 'add', target: 'user', content: 'Ada has a secret cat' }, dm, signal);
  const inGroup: MemorySession = { ...group, userId: '7' };
  await provider.initialize(inGroup, signal);
  await provider.syncTurn?.(turn({ user: 'We meet on Monday' }), inGroup, signal);
  assert.equal(await provider.prefetch?.('cat', inGroup, signal), '');
  assert.equal(await call('honcho_search', { query: 'cat' }, inGroup), 'Nothing is remembered about that.');
  assert.equal(await call('honcho_search', { query: 'monday' }, inGroup), '- We meet on Monday');
  for (const name of ['honcho_profile', 'honcho_conclude']) await assert.rejects(call(name, { conclusion: 'x' }, inGroup), (error) => error instanceof ToolError && error.code === 'unavailable');
  await provider.onMemoryWrite?.({ key: 'w2', action: 'add', target: 'user', content: 'said before everybody' }, inGroup, signal);
  assert.equal(simulator.workspace('hermes')?.conclusions.length, 1);
});

test('people of a shared conversation are not taken for one of them', async () => {
  await provider.initialize(group, signal);
  await provider.syncTurn?.(turn(), group, signal);
  assert.deepEqual(said(group).map((message) => message.peer_id), [honchoName('people', group.sessionId), 'agent-main']);
});

test('each agent has a workspace of its own', async () => {
  const other = newHonchoProvider(options(), 'coder');
  await other.initialize({ ...dm, agent: 'coder' }, signal);
  assert.equal(simulator.workspace('hermes'), undefined);
  assert.ok(simulator.workspace('hermes-coder') !== undefined);
});

test('the end of a conversation is noted there', async () => {
  await provider.initialize(dm, signal);
  await provider.onSessionEnd?.({ key: 'end:1', reason: 'idle', atMs: Date.UTC(2026, 0, 2) }, dm, signal);
  assert.deepEqual(simulator.workspace('hermes')?.sessions.get(dm.sessionId)?.metadata['end_reason'], 'idle');
});

test('every failure has a code that says whether to try again', async () => {
  const failure = async (asked = provider): Promise<MemoryError> => {
    try {
      await asked.prefetch?.('x', dm, signal);
    } catch (error) {
      assert.ok(error instanceof MemoryError);
      return error;
    }
    return assert.fail('it did not fail');
  };
  await provider.initialize(dm, signal);
  simulator.fail(/context$/, { type: 'status', status: 429, headers: { 'retry-after': '7' } }, { type: 'status', status: 401 }, { type: 'status', status: 422 }, { type: 'status', status: 503 }, { type: 'garbage' }, { type: 'silence' });
  const seen = [await failure(), await failure(), await failure(), await failure(), await failure(), await failure(newHonchoProvider(options({ timeout_ms: 1000 }), 'main'))];
  assert.deepEqual(seen.map((error) => [error.code, error.isWorthRepeating]), [['rate_limited', true], ['auth', true], ['rejected', false], ['unavailable', true], ['malformed', true], ['unavailable', true]]);
  assert.equal(seen[0]?.retryAfterMs, 7000);
});

test('it needs a key for Honcho’s own service and none for a server of one’s own', () => {
  const available = (honcho: object): boolean => newHonchoProvider(memorySection.schema.parse({ honcho }).honcho, 'main').isAvailable();
  assert.deepEqual([available({}), available({ api_key: 'k' }), available({ base_url: 'http://10.0.0.5:8000' })], [false, true, true]);
});

test('the settings name the provider', async () => {
  assert.equal(await createMemoryProvider(memorySection.schema.parse({}), 'main'), undefined);
  assert.equal((await createMemoryProvider(memorySection.schema.parse({ provider: 'honcho' }), 'main'))?.name, 'honcho');
});

test('names are what Honcho takes, and different people never share one', () => {
  const people = [['telegram', '7'], ['telegram@work', '7'], ['telegram_work', '7'], ['a', 'b-c'], ['a-b', 'c'], ['matrix', '@ada:example.org'], ['matrix', '_ada_example_org'], ['x', 'ä'.repeat(300)], ['x', 'ä'.repeat(301)]] as const;
  const names = people.map(([account, id]) => honchoName('user', account, id));
  assert.equal(new Set(names).size, people.length);
  for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,80}$/);
});
