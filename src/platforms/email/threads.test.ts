import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import type { InboundEvent } from '../../core/message.ts';
import { boundedIds, newThreadRecords } from './threads.ts';

const event = (threadId: string, messageId: string): InboundEvent => ({
  account: 'email',
  kind: 'message',
  nativeId: messageId,
  chat: { id: 'bob@example.org', type: 'dm', threadId },
  sender: { id: 'bob@example.org', isBot: false },
  text: '',
  media: [],
  messageId,
  addressed: true,
  mentioned: false,
  sentAtMs: 0,
});

describe('what is kept of a thread', () => {
  it('is taken back when nobody was let in', async () => {
    using data = openAccountData(':memory:');
    const records = newThreadRecords(data, () => 0);
    const place = { chatId: 'bob@example.org', threadId: 't' };
    const forget = await records.note(event('t', 'm1'), { subject: 'Plan', references: ['m0'] });
    assert.deepEqual(await records.find(place), { subject: 'Plan', ids: ['m0', 'm1'], atMs: 0 });
    await (await records.note(event('t', 'm2'), { subject: 'Other', references: [] }))();
    assert.deepEqual((await records.find(place))?.ids, ['m0', 'm1']);
    await forget();
    assert.equal(await records.find(place), undefined);
  });

  it('is forgotten after half a year of silence', async () => {
    using data = openAccountData(':memory:');
    let nowMs = 0;
    const records = newThreadRecords(data, () => nowMs);
    await records.keep({ chatId: 'a@b.c', threadId: 'old' }, { subject: 'x', ids: [] });
    nowMs = 181 * 24 * 3600 * 1000;
    await records.keep({ chatId: 'a@b.c', threadId: 'new' }, { subject: 'x', ids: [] });
    await records.prune();
    assert.deepEqual((await data.list('')).map(({ key }) => key), ['thread:a@b.c/new']);
  });

  it('has the first and the newest ids, each once', () => {
    const ids = Array.from({ length: 30 }, (_, i) => `m${i}`);
    const kept = boundedIds([...ids, 'm29']);
    assert.deepEqual([kept.length, kept[0], kept[1], kept.at(-1)], [20, 'm0', 'm11', 'm29']);
  });
});
