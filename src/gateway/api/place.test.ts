import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindApiTurn } from './place.ts';

const place = { chat: { id: 'helpdesk', type: 'dm' as const, threadId: '7' }, sender: { id: 'ann', isBot: false } };

test('whatever is asked, nothing can be said after the answer and nobody can be asked', async () => {
  const turn = bindApiTurn('main', 'k1', place);
  assert.equal(turn.asyncDelivery, false);
  const question = { text: 'sure?', timeoutMs: 1000 } as unknown as Parameters<typeof turn.ask>[0];
  assert.deepEqual(await turn.ask(question, { callId: 'c', index: 1 }, new AbortController().signal), { type: 'unattended' });
  assert.deepEqual(turn.place.target, { account: 'api_server', chatId: 'helpdesk', chatType: 'dm', threadId: '7' });
});

test('a name that a client gives cannot pass for another key', () => {
  assert.equal(bindApiTurn('main', 'k1', place).place.sender?.id, 'k1:ann');
  assert.equal(bindApiTurn('main', 'k1', { ...place, sender: { id: 'owner', isBot: false } }).place.sender?.id, 'k1:owner');
  assert.equal(bindApiTurn('main', 'k1', { ...place, sender: { id: 'k1', isBot: false } }).place.sender?.id, 'k1');
});
