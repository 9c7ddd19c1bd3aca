import assert from 'node:assert/strict';
import { test } from 'node:test';
import deliveryTargets from '../../../test/vectors/delivery-targets.json' with { type: 'json' };
import sendTargets from '../../../test/vectors/send-targets.json' with { type: 'json' };
import { readSlackChat } from './address.ts';
import { slack } from './index.ts';

for (const { id, in: input, out } of sendTargets.cases) {
  if (input.platform !== 'slack') continue;
  test(`${id} is read as the original reads it`, () => {
    assert.deepEqual(readSlackChat(input.ref), out.explicit ? { chatId: out.chat_id, ...(out.thread_id !== null && { threadId: out.thread_id }) } : undefined);
  });
}

for (const { id, in: input, out } of deliveryTargets.cases) {
  const ref = /^slack:(.+)$/.exec(input.target)?.[1];
  if (ref === undefined) continue;
  test(`${id} means what it meant`, () => assert.deepEqual(readSlackChat(ref), { chatId: out.chat_id, ...(out.thread_id !== null && { threadId: out.thread_id }) }));
}

test('threads stand behind the chat, and words are names to look up', () => {
  assert.deepEqual(readSlackChat('C0123ABCD:1700000000.000100'), { chatId: 'C0123ABCD', threadId: '1700000000.000100' });
  assert.deepEqual(readSlackChat('C0123ABCD:slash:U0123ABCD'), { chatId: 'C0123ABCD', threadId: 'slash:U0123ABCD' });
  assert.deepEqual(readSlackChat('user:U0123ABCD'), { chatId: 'user:U0123ABCD' });
  for (const name of ['Customers', 'general', '#general', 'Design-team']) assert.equal(readSlackChat(name), undefined);
});

test('an id tells a direct chat from others', () => {
  assert.deepEqual(['D0123ABCD', 'user:U1', 'user_name:bob', 'U0123ABCD', 'C0123ABCD', 'G0123ABCD'].map((id) => slack.chatTypeOf?.(id)), ['dm', 'dm', 'dm', 'dm', 'group', 'group']);
});
