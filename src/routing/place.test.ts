import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import type { Chat } from '../core/message.ts';
import type { SessionSharing } from '../core/session-key.ts';
import { placeOf } from './place.ts';

const main = (sharing: SessionSharing = {}) => ({ agent: 'main', ...sharing });

const at = (chat: Chat, facts: { account?: string; senderId?: string } = {}) => sampleEvent({ chat, account: facts.account ?? 'telegram', sender: { id: facts.senderId ?? '7', isBot: false } });

test('a direct chat is its own conversation, and another account is another one', () => {
  const dm: Chat = { id: '7', type: 'dm' };
  assert.deepEqual(placeOf(at(dm), {}, main()), { agent: 'main', sessionKey: 'agent:main:telegram:dm:7', shared: false });
  assert.equal(placeOf(at(dm, { account: 'telegram@work' }), {}, main()).sessionKey, 'agent:main:telegram@work:dm:7');
});

test('members of a group have a conversation each, unless they are to share one', () => {
  const group: Chat = { id: '-1', type: 'group' };
  const [ada, bob] = [at(group, { senderId: 'ada' }), at(group, { senderId: 'bob' })];
  assert.notEqual(placeOf(ada, {}, main()).sessionKey, placeOf(bob, {}, main()).sessionKey);
  assert.equal(placeOf(ada, {}, main()).shared, false);
  const sharing = { groupSessionsPerUser: false };
  assert.equal(placeOf(ada, {}, main(sharing)).sessionKey, placeOf(bob, {}, main(sharing)).sessionKey);
  assert.equal(placeOf(ada, {}, main(sharing)).shared, true);
});

test('a thread is shared, unless its members are to have a conversation each', () => {
  const thread: Chat = { id: '-1', type: 'group', threadId: '5' };
  const [ada, bob] = [at(thread, { senderId: 'ada' }), at(thread, { senderId: 'bob' })];
  assert.equal(placeOf(ada, {}, main()).sessionKey, placeOf(bob, {}, main()).sessionKey);
  assert.equal(placeOf(ada, {}, main()).shared, true);
  const apart = { threadSessionsPerUser: true };
  assert.notEqual(placeOf(ada, {}, main(apart)).sessionKey, placeOf(bob, {}, main(apart)).sessionKey);
  assert.equal(placeOf(ada, {}, main(apart)).shared, false);
});

test('the workspace and one spelling of an id are part of the key where the platform says so', () => {
  const chat: Chat = { id: 'C1', type: 'dm', scopeId: 'T1' };
  assert.ok(!placeOf(at(chat), {}, main()).sessionKey.includes('T1'));
  assert.equal(placeOf(at(chat), { scopeInKey: true, canonicalId: (id) => id.toLowerCase() }, main()).sessionKey, 'agent:main:telegram:dm:T1:c1');
});
