import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { alternate } from '../agent/alternation.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import { claimLane, enqueueLane, turnLane } from '../store/lanes/lanes.ts';
import { bindSession, createSession } from '../store/sessions/sessions.ts';
import { appendMessage, newestSaid } from '../store/sessions/transcripts.ts';
import { startTurn } from '../store/sessions/turns.ts';
import type { Store } from '../store/store.ts';
import { mirrorSend } from './mirror.ts';
import type { Mirrored, MirrorOutcome } from './mirror.ts';

const target = sampleTarget({ chatId: '-1', chatType: 'group' });

const begin = (store: Store, id: string, more: { agent?: string; userId?: string; threadId?: string } = {}): Promise<void> =>
  store.write(async (tx) => {
    const { agent = 'main', userId, threadId } = more;
    await createSession(tx, { id, agent, account: 'telegram', chatType: 'group', ...(userId !== undefined && { userId }) });
    await bindSession(tx, { sessionKey: `key:${id}`, sessionId: id, target: { ...target, ...(threadId !== undefined && { threadId }) } });
  });

const say = (store: Store, id: string, ...messages: readonly TranscriptMessage[]): Promise<void> =>
  store.write(async (tx) => {
    for (const message of messages) await appendMessage(tx, { sessionId: id, turnId: null }, message);
  });

const mirror = (store: Store, more: Partial<Mirrored> = {}): Promise<MirrorOutcome> => store.write((tx) => mirrorSend(tx, { target, text: 'the report', how: 'sent by you from another conversation', isOwn: true, agent: 'main', ...more }));

const said = async (store: Store, id: string): Promise<readonly TranscriptMessage[]> => (await store.read((db) => newestSaid(db, id, 10))).map(({ message }) => message).toReversed();

eachStore((_engine, open) => {
  test('what was sent stands in the transcript as the agent’s, where a person spoke last', async () => {
    const { store } = await open();
    await begin(store, 's1');
    await say(store, 's1', { role: 'user', content: 'hm' });
    assert.equal(await mirror(store), 'mirrored');
    assert.deepEqual((await said(store, 's1')).map(({ role, content }) => [role, content]), [['user', 'hm'], ['assistant', 'the report']]);
  });

  test('where the agent spoke last, or what was sent is not its own, it is told about instead', async () => {
    const { store } = await open();
    await begin(store, 's1');
    await say(store, 's1', { role: 'user', content: 'hm' }, { role: 'assistant', content: 'yes?' });
    await mirror(store);
    await mirror(store, { isOwn: false, how: 'delivered by the job “news”' });
    const rows = await said(store, 's1');
    assert.deepEqual(rows.map(({ role }) => role), ['user', 'assistant', 'user', 'user']);
    assert.match(rows[2]?.content ?? '', /^\[This was sent by you from another conversation and shown in this chat\. Nobody here has said it:\]\nthe report$/);
    assert.match(rows[3]?.content ?? '', /delivered by the job “news”/);
    assert.deepEqual(alternate(rows).map(({ role }) => role), ['user', 'assistant', 'user'], 'roles alternate');
  });

  test('in the middle of a turn no call loses its result', async () => {
    const { store } = await open();
    await begin(store, 's1');
    const call = { id: 'c1', name: 'look', arguments: '{}' };
    await say(store, 's1', { role: 'user', content: 'go' }, { role: 'assistant', content: '', toolCalls: [call] });
    await store.write(async (tx) => {
      await enqueueLane(tx, { lane: turnLane('s1'), kind: 'turn' });
      await claimLane(tx, { lane: turnLane('s1'), owner: 'a', leaseMs: 60_000 });
      await startTurn(tx, { sessionId: 's1', lane: turnLane('s1'), target });
    });
    await mirror(store);
    await say(store, 's1', { role: 'tool', content: 'seen', toolCallId: 'c1', toolName: 'look' }, { role: 'assistant', content: 'done' });
    const rows = alternate(await said(store, 's1'));
    assert.equal(rows.find(({ toolCallId }) => toolCallId === 'c1')?.content, 'seen');
    assert.ok(rows.some(({ role, content }) => role === 'user' && content.includes('the report')));
  });

  test('only the conversation of that place and that agent is touched, and never the one that sent it', async () => {
    const { store } = await open();
    assert.equal(await mirror(store), 'none');
    await begin(store, 'thread', { threadId: '5' });
    await begin(store, 'other', { agent: 'work' });
    assert.equal(await mirror(store), 'none');
    assert.equal(await mirror(store, { target: { ...target, threadId: '5' }, except: 'thread' }), 'none');
    assert.equal(await mirror(store, { target: { ...target, threadId: '5' } }), 'mirrored');
    assert.deepEqual([(await said(store, 'thread')).length, (await said(store, 'other')).length], [1, 0]);
  });

  test('of several people’s conversations the meant one is taken, and none is guessed', async () => {
    const { store } = await open();
    await begin(store, 's7', { userId: '7' });
    await begin(store, 's8', { userId: '8' });
    assert.equal(await mirror(store), 'ambiguous');
    assert.equal(await mirror(store, { userId: '8' }), 'mirrored');
    assert.deepEqual([(await said(store, 's7')).length, (await said(store, 's8')).length], [0, 1]);
  });
});
