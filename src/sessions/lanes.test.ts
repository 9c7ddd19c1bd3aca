import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { until } from '../../test/support/whole.ts';
import { newConversations, openSession, say, sent } from './conversations.test-support.ts';
import type { ConversationOptions } from './lanes.ts';

eachStore((_engine, open) => {
  const answersBoth = async (more: Partial<ConversationOptions>, event: string): Promise<void> => {
    const { store } = await open();
    await openSession(store);
    await say(store, 'one');
    await say(store, 'two');
    await using conversing = newConversations(store, more);
    const { conversations, lines } = conversing;
    conversations.start();
    // Every turn ends with a notice, since nobody answers.
    await until(async () => (await sent(store)).length === 2, 'both turns to end');
    await conversing.stop();
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
