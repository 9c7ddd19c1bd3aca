import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import type { Target } from '../../core/message.ts';
import { systemClock } from '../../lib/clock.ts';
import { turnLane } from '../../store/lanes/lanes.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import type { NewSession } from '../../store/sessions/sessions.ts';
import { appendMessage, deactivateFrom } from '../../store/sessions/transcripts.ts';
import type { Store } from '../../store/store.ts';
import { ToolError } from './contract.ts';
import { sessionSearchTool } from './session-search.ts';

interface Place {
  readonly sessionId: string;
  readonly target?: Partial<Target>;
  readonly userId?: string;
}

const look = (store: Store, args: Readonly<Record<string, unknown>>, { sessionId, target, userId = '7' }: Place): Promise<string> =>
  sessionSearchTool(store).run(
    args,
    {
      sessionId,
      turnId: 't',
      callId: 'c',
      place: { agent: 'main', platform: 'telegram', target: sampleTarget({ chatId: '7', ...target }), sender: { id: userId, isBot: false } },
      clock: systemClock,
      asyncDelivery: true,
      alive: () => undefined,
      ask: async () => ({ type: 'unattended' }),
    },
    new AbortController().signal,
  );

const open = (store: Store, id: string, session: Partial<NewSession> & { readonly texts?: readonly string[]; readonly heldAt?: Partial<Target> }): Promise<number[]> =>
  store.write(async (tx) => {
    const { texts = [`secret of ${id}`], heldAt, ...facts } = session;
    await createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm', title: `title ${id}`, ...facts });
    const ids: number[] = [];
    for (const [index, content] of texts.entries()) ids.push(await appendMessage(tx, { sessionId: id, turnId: null }, { role: index % 2 === 0 ? 'user' : 'assistant', content }));
    if (heldAt !== undefined) await tx.q.insertInto('turns').values({ session_id: id, lane: turnLane(id), state: 'done', attempts: 1, target: JSON.stringify(sampleTarget(heldAt)), preview: null, exit_reason: null, error: null, model: null, started_at: 0, ended_at: 0 }).execute();
    return ids;
  });

const headings = (text: string): readonly string[] => [...text.matchAll(/^## (\S+)/gm)].map((match) => match[1] ?? '').toSorted();
const isRefused = (error: unknown): boolean => error instanceof ToolError && error.code === 'bad_arguments';

eachStore((_engine, openStore) => {
  test('words lead to the message, what was said around it, and how that conversation began and ended', async () => {
    const { store } = await openStore();
    await open(store, 'now', { userId: '7', texts: ['hello'] });
    const ids = await open(store, 'old', { userId: '7', texts: Array.from({ length: 40 }, (_, i) => (i === 20 ? 'the garden gate is red' : `line ${i}`)) });
    const text = await look(store, { query: 'garden gate' }, { sessionId: 'now' });
    assert.match(text, /^## old “title old”, .* 40 messages\nFound in #\d+: the >>>garden<<< gate is red\n/);
    for (const i of [0, 2, 15, 25, 37, 39]) assert.match(text, new RegExp(`line ${i}\\n|line ${i}$`), `line ${i}`);
    assert.match(text, new RegExp(`#${ids[20]} \\S+ \\S+ person: the garden gate is red`));
    for (const i of [4, 14, 26, 36]) assert.doesNotMatch(text, new RegExp(`line ${i}\\n`), `line ${i}`);
    assert.equal(await look(store, { query: 'unicorn' }, { sessionId: 'now' }), 'Nothing was found. All words have to be in one message: try fewer, or other ones.');
  });

  test('each conversation comes once, newest first or oldest first, as many as asked for', async () => {
    const { store } = await openStore();
    for (const id of ['a', 'b', 'c', 'd']) await open(store, id, { userId: '7', texts: ['apple one', 'apple two'] });
    const order = (text: string): readonly string[] => [...text.matchAll(/^## (\S+)/gm)].map((match) => match[1] ?? '');
    assert.deepEqual(order(await look(store, { query: 'apple' }, { sessionId: 'd' })), ['d', 'c', 'b']);
    assert.deepEqual(order(await look(store, { query: 'apple', sort: 'oldest', limit: 2 }, { sessionId: 'd' })), ['a', 'b']);
    assert.match(await look(store, { query: 'apple', limit: 1 }, { sessionId: 'd' }), /3 more conversations match\.$/);
    assert.match(await look(store, { query: 'apple', role_filter: 'assistant', limit: 1 }, { sessionId: 'd' }), />>>apple<<< two/);
  });

  test('a conversation can be read, scrolled through and searched by itself', async () => {
    const { store } = await openStore();
    await open(store, 'now', { userId: '7' });
    const ids = await open(store, 'old', { userId: '7', texts: Array.from({ length: 60 }, (_, i) => `line ${i}`) });
    const whole = await look(store, { session_id: 'old' }, { sessionId: 'now' });
    assert.match(whole, /line 7\n\[… use around_message_id for what is in between …\]\n.*line 36\n/);
    const part = await look(store, { session_id: 'old', around_message_id: ids[30], window: 2 }, { sessionId: 'now' });
    assert.deepEqual([...part.matchAll(/line (\d+)/g)].map((match) => Number(match[1])), [28, 29, 30, 31, 32]);
    assert.match(await look(store, { session_id: 'old', query: 'line 33' }, { sessionId: 'now' }), new RegExp(`\\n#${ids[33]} .* you: >>>line<<< 33$`));
  });

  test('without arguments the recent conversations are listed, this one left out', async () => {
    const { store } = await openStore();
    for (const id of ['a', 'b', 'now']) await open(store, id, { userId: '7' });
    const text = await look(store, {}, { sessionId: 'now' });
    assert.deepEqual(headings(text), ['a', 'b']);
    assert.match(text, /person: secret of a/);
  });

  test('what was undone and what tools said is not shown, what was archived is', async () => {
    const { store } = await openStore();
    const ids = await open(store, 'old', { userId: '7', texts: ['keep apples', 'archived apples', 'undone apples'] });
    await store.write(async (tx) => {
      await deactivateFrom(tx, 'old', ids[2] ?? 0);
      await tx.q.updateTable('messages').set({ active: 0, compression_id: 1 }).where('id', '=', ids[1] ?? 0).execute();
      await appendMessage(tx, { sessionId: 'old', turnId: null }, { role: 'tool', content: 'apples of a tool', toolCallId: 'c' });
    });
    const text = await look(store, { session_id: 'old' }, { sessionId: 'old' });
    assert.deepEqual([...text.matchAll(/: (.* apples|apples .*)/g)].map((match) => match[1]), ['keep apples', 'archived apples']);
  });

  test('nobody sees a conversation of another person, account or agent, by words, by id or in the list', async () => {
    const { store } = await openStore();
    await open(store, 'mine', { userId: '7' });
    await open(store, 'other-person', { userId: '8' });
    await open(store, 'other-account', { userId: '7', account: 'discord' });
    await open(store, 'other-agent', { userId: '7', agent: 'coder' });
    await open(store, 'shared', { chatType: 'group' });
    assert.deepEqual(headings(await look(store, { query: 'secret', limit: 10 }, { sessionId: 'mine' })), ['mine']);
    for (const id of ['other-person', 'other-account', 'other-agent', 'shared', 'missing', "x' or 1=1"]) {
      await assert.rejects(look(store, { session_id: id }, { sessionId: 'mine' }), isRefused, id);
      await assert.rejects(look(store, { session_id: id, query: 'secret' }, { sessionId: 'mine' }), isRefused, id);
      await assert.rejects(look(store, { session_id: id, around_message_id: 1 }, { sessionId: 'mine' }), isRefused, id);
    }
    assert.equal(await look(store, {}, { sessionId: 'mine' }), 'There is no earlier conversation.');
  });

  test('where others read along, what a person said in private stays private', async () => {
    const { store } = await openStore();
    await open(store, 'private', { userId: '7' });
    await open(store, 'in-group', { userId: '7', chatType: 'group' });
    await open(store, 'here', { userId: '7', chatType: 'group' });
    const place: Place = { sessionId: 'here', target: { chatType: 'group', chatId: '-100' } };
    assert.deepEqual(headings(await look(store, { query: 'secret', limit: 10 }, place)), ['here', 'in-group']);
    await assert.rejects(look(store, { session_id: 'private' }, place), isRefused);
  });

  test('a private conversation that was moved into a group shows itself there and nothing else of its owner', async () => {
    const { store } = await openStore();
    await open(store, 'before', { userId: '7' });
    await open(store, 'moved', { userId: '7', parentId: 'before' });
    await open(store, 'own', { userId: '8', chatType: 'group' });
    const place: Place = { sessionId: 'moved', userId: '8', target: { chatType: 'thread', chatId: '-100', threadId: '5' } };
    assert.deepEqual(headings(await look(store, { query: 'secret', limit: 10 }, place)), ['moved', 'own']);
  });

  test('a conversation of several people shows what was held in the same place before, and nobody’s own', async () => {
    const { store } = await openStore();
    await open(store, 'elsewhere', { chatType: 'group', heldAt: { chatId: '-999' } });
    await open(store, 'first', { chatType: 'group', parentId: 'elsewhere', heldAt: { chatId: '-100' } });
    await open(store, 'second', { chatType: 'group', parentId: 'first', heldAt: { chatId: '-100' } });
    await open(store, 'own', { userId: '7' });
    await open(store, 'here', { chatType: 'group', parentId: 'second' });
    const place: Place = { sessionId: 'here', target: { chatType: 'group', chatId: '-100' } };
    assert.deepEqual(headings(await look(store, { query: 'secret', limit: 10 }, place)), ['first', 'here', 'second']);
    await assert.rejects(look(store, { session_id: 'own' }, place), isRefused);
    await assert.rejects(look(store, { session_id: 'elsewhere' }, place), isRefused);
  });

  test('the answer is bounded, whatever was said', async () => {
    const { store } = await openStore();
    await open(store, 'old', { userId: '7', texts: Array.from({ length: 40 }, () => 'word '.repeat(40_000)) });
    assert.ok((await look(store, { session_id: 'old', detail: 'full' }, { sessionId: 'old' })).length < 31_000);
    assert.ok((await look(store, { query: 'word' }, { sessionId: 'old' })).length < 10_000);
  });
});
