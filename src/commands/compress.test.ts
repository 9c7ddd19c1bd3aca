import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { readyLanes, turnLane } from '../store/lanes/lanes.ts';
import { createSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { startTurn, unfinishedTurn } from '../store/sessions/turns.ts';
import { sampleTarget } from '../../test/support/samples.ts';
import { sampleCall } from './command-call.test-support.ts';
import { compress } from './compress.ts';

const exchange: readonly TranscriptMessage[] = [
  { role: 'user', content: 'Look it up, please.' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'read_file', arguments: '{}' }] },
  { role: 'tool', content: 'x'.repeat(40_000), toolCallId: 'c', toolName: 'read_file' },
  { role: 'assistant', content: 'There it is.' },
];

const begin = (store: Store, messages: readonly TranscriptMessage[] = exchange): Promise<readonly number[]> =>
  store.write(async (tx) => {
    await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' });
    const ids: number[] = [];
    for (const message of messages) ids.push(await appendMessage(tx, { sessionId: 's1', turnId: null }, message));
    return ids;
  });

const give = (store: Store, args: string): Promise<string> => store.write((tx) => compress.run(tx, sampleCall({ args })));

const chore = async (store: Store): Promise<unknown> => (await store.read((db) => unfinishedTurn(db, turnLane('s1'))))?.chore;

eachStore((_engine, open) => {
  test('/compress leaves the work to the conversation’s lane, and answers when it is done', async () => {
    const { store } = await open();
    await begin(store);
    assert.equal(await give(store, ''), '');
    assert.deepEqual(await chore(store), { type: 'compress' });
    assert.deepEqual((await store.read((db) => readyLanes(db, 'turn', 10))).map(({ lane }) => lane), [turnLane('s1')]);
    const left = await store.read((db) => unfinishedTurn(db, turnLane('s1')));
    assert.deepEqual([left?.attempts, left?.target.chatId], [0, '7']);
    assert.match(await give(store, ''), /still working/, 'once is enough');
  });

  test('/compress takes a focus, or how many exchanges are to stay', async () => {
    for (const [args, expected] of [
      ['the invoice', { type: 'compress', focus: 'the invoice' }],
      ['here', { type: 'compress', keepExchanges: 2 }],
      ['HERE 5', { type: 'compress', keepExchanges: 5 }],
      ['here and there', { type: 'compress', focus: 'here and there' }],
      ['--preview', { type: 'compress', preview: true }],
      ['here 3 --dry-run', { type: 'compress', keepExchanges: 3, preview: true }],
      ['--Preview the --previewed invoice', { type: 'compress', focus: 'the --previewed invoice', preview: true }],
    ] as const) {
      const { store } = await open();
      await begin(store);
      assert.equal(await give(store, args), '', args);
      assert.deepEqual(await chore(store), expected);
    }
  });

  test('/compress says what is wrong, and leaves nothing behind then', async () => {
    const { store } = await open();
    await begin(store, exchange.slice(0, 1));
    assert.equal(await give(store, ''), 'There is too little to summarise yet.');
    for (const args of ['here 0', 'here many', 'x'.repeat(501)]) assert.match(await give(store, args), /^Usage: \/compress/);
    assert.equal(await chore(store), undefined);
  });

  test('/compress waits for nobody: while a turn runs it is refused', async () => {
    const { store } = await open();
    await begin(store);
    await store.write((tx) => startTurn(tx, { sessionId: 's1', lane: turnLane('s1'), target: sampleTarget() }));
    assert.match(await give(store, ''), /still working/);
    assert.equal(await chore(store), undefined);
  });
});
