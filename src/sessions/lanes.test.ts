import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { until } from '../../test/support/whole.ts';
import { replyTarget } from '../core/message.ts';
import { systemClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { insertInboxItem } from '../store/inbox.ts';
import { enqueueLane, turnLane } from '../store/lanes.ts';
import { createSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { Conversations } from './lanes.ts';
import type { ConversationOptions } from './lanes.ts';

const lane = turnLane('s1');

const say = (store: Store, text: string): Promise<unknown> =>
  store.write(async (tx) => {
    await enqueueLane(tx, { lane, kind: 'turn' });
    return insertInboxItem(tx, { event: sampleEvent({ text }), class: 'chat', decisions: [], place: { lane, sessionId: 's1', sessionKey: 'k' } });
  });

/** Conversations in which every turn ends with a notice, since nobody answers. */
const unanswered = (store: Store, more: Partial<ConversationOptions>): { readonly conversations: Conversations; readonly lines: readonly string[] } => {
  const { log, lines } = capturingLogger();
  const conversations = new Conversations({
    owner: 'a',
    concurrency: 2,
    store,
    clock: systemClock,
    log,
    policy: { maxAttempts: 3, continueWithinMs: () => 3_600_000, busyMode: () => 'queue', isShared: () => false, replyTo: replyTarget, anchorAll: () => false, platform: () => telegram as Platform },
    attachments: { folder: '', maxBytes: 0, clock: systemClock, log, adapter: () => undefined },
    answering: () => Promise.reject(new Error('nobody is there')),
    preview: () => undefined,
    typing: () => ({ [Symbol.dispose]: () => undefined }),
    prepare: async (_begun, { text }) => ({ text }),
    progress: () => undefined,
    display: () => undefined,
    ...more,
  });
  return { conversations, lines };
};

const notices = async (store: Store): Promise<number> => (await store.read((db) => db.q.selectFrom('outbox').select('id').execute())).length;

eachStore((_engine, open) => {
  const answersBoth = async (more: Partial<ConversationOptions>, event: string): Promise<void> => {
    const { store } = await open();
    await store.write((tx) => createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' }));
    await say(store, 'one');
    await say(store, 'two');
    const { conversations, lines } = unanswered(store, more);
    conversations.start();
    try {
      await until(async () => (await notices(store)) === 2, 'both turns to end');
    } finally {
      await conversations.stop(0);
    }
    assert.equal(lines.filter((line) => line.includes(event)).length, 2);
  };

  test('a turn that a commit has begun is run although somebody who is told of the end before it fails', () =>
    answersBoth(
      {
        onFinished: () => {
          throw new Error('a broken listener');
        },
      },
      'turn.end_not_told',
    ));

  test('a turn ends also when what is shown beside its answer cannot be made', () =>
    answersBoth(
      {
        display: () => {
          throw new Error('a broken setting');
        },
      },
      'turn.shown_plainly',
    ));
});
