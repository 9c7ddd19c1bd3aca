import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import type { InboundEvent } from '../../core/message.ts';
import { forgetOldReplies, readerOf, rememberReply, takeReplyAddress } from './private-reply.ts';

const target = { account: 'slack', chatId: 'C1', chatType: 'group' as const, threadId: 'slash:U1' };
const event: InboundEvent = { account: 'slack', kind: 'message', nativeId: '1', chat: { id: 'C1', type: 'group', threadId: 'slash:U1' }, sender: { id: 'U1', isBot: false }, text: 'x', media: [], addressed: true, mentioned: true, sentAtMs: 0 };
const payload = { response_url: 'https://hooks.slack.com/commands/1' };

test('an address holds five times, and half an hour', async () => {
  const data = openAccountData(':memory:');
  await rememberReply(data, event, { payload, nowMs: 0 });
  assert.equal(await takeReplyAddress(data, target, 30 * 60_000), undefined);
  await rememberReply(data, event, { payload, nowMs: 0 });
  const taken = [];
  for (let i = 0; i < 6; i += 1) taken.push(await takeReplyAddress(data, target, 1000));
  assert.deepEqual(taken, [...Array.from({ length: 5 }, () => payload.response_url), undefined]);
  assert.equal(await takeReplyAddress(data, { ...target, threadId: 'slash:U2' }, 0), undefined);
});

test('old addresses are forgotten, and those that hold are not', async () => {
  const data = openAccountData(':memory:');
  await rememberReply(data, event, { payload, nowMs: 0 });
  await rememberReply(data, { ...event, chat: { ...event.chat, id: 'C2' } }, { payload, nowMs: 60 * 60_000 });
  await forgetOldReplies(data, 60 * 60_000);
  assert.deepEqual((await data.list('reply:')).map(({ key }) => key), ['reply:C2:slash:U1']);
});

test('only answers to slash commands in channels have one reader', () => {
  assert.deepEqual([readerOf(target), readerOf({ threadId: '1700000000.000100' }), readerOf({})], ['U1', undefined, undefined]);
});
