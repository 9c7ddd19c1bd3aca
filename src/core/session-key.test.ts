import assert from 'node:assert/strict';
import { test } from 'node:test';
import vectors from '../../test/vectors/session-keys.json' with { type: 'json' };
import type { Chat, ChatType } from './message.ts';
import { isShared, keyInChat, keyOfAgent, parseSessionKey, sessionKey } from './session-key.ts';
import type { SessionKeyOptions, SessionPlace } from './session-key.ts';

interface VectorSource {
  readonly platform: string;
  readonly chat_id: string;
  readonly chat_type: string;
  readonly user_id?: string;
  readonly user_id_alt?: string;
  readonly thread_id?: string;
  readonly scope_id?: string;
  readonly parent_chat_id?: string;
  readonly prospective_thread_id?: string;
}

interface VectorOptions {
  readonly group_sessions_per_user?: boolean;
  readonly thread_sessions_per_user?: boolean;
  readonly profile?: string;
}

const whatsAppId = (id: string): string => id.trim().replace(/^\+/, '').replace(/[:@].*$/s, '');

const chatOf = (source: VectorSource): Chat => ({
  id: source.chat_id,
  type: source.chat_type as ChatType,
  ...(source.thread_id !== undefined && { threadId: source.thread_id }),
  ...(source.scope_id !== undefined && { scopeId: source.scope_id }),
  ...(source.parent_chat_id !== undefined && { parentId: source.parent_chat_id }),
  ...(source.prospective_thread_id !== undefined && { prospectiveThreadId: source.prospective_thread_id }),
});

const placeOf = (source: VectorSource, options: VectorOptions): SessionPlace => ({
  account: source.platform,
  chat: chatOf(source),
  ...(options.profile !== undefined && { agent: options.profile }),
  ...(source.user_id !== undefined && {
    sender: { id: source.user_id, ...(source.user_id_alt !== undefined && { altId: source.user_id_alt }) },
  }),
});

const optionsOf = (source: VectorSource, options: VectorOptions): SessionKeyOptions => ({
  ...(options.group_sessions_per_user !== undefined && { groupSessionsPerUser: options.group_sessions_per_user }),
  ...(options.thread_sessions_per_user !== undefined && { threadSessionsPerUser: options.thread_sessions_per_user }),
  scopeInKey: source.platform === 'slack',
  ...(source.platform === 'whatsapp' && { canonicalId: whatsAppId }),
});

/** The original says "not shared" here although its key names no person, so everybody lands in one session without names. */
const sharedAfterAll = ['dc-prospective-thread', 'tg-forum-topic-thread-per-user-group-shared'];

test('every key of the original is made exactly as it was', async (t) => {
  for (const { id, in: input, out } of vectors.cases) {
    await t.test(id, () => {
      const source: VectorSource = input.source;
      const options = optionsOf(source, input.options);
      assert.equal(sessionKey(placeOf(source, input.options), options), out.key);
      assert.equal(isShared(chatOf(source), options), out.shared || sharedAfterAll.includes(id));
    });
  }
});

test('a session that several people share never has one of them in its key', () => {
  const flags = [true, false];
  for (const groupSessionsPerUser of flags)
    for (const threadSessionsPerUser of flags)
      for (const thread of [{}, { threadId: '7' }, { prospectiveThreadId: '7' }]) {
        const chat: Chat = { id: 'c', type: 'group', ...thread };
        const options = { groupSessionsPerUser, threadSessionsPerUser };
        const key = sessionKey({ account: 'telegram', chat, sender: { id: 'alice' } }, options);
        assert.equal(key.endsWith(':alice'), !isShared(chat, options), `${key} ${JSON.stringify(options)}`);
      }
});

test('a further account of a platform has keys of its own', () => {
  const chat: Chat = { id: '42', type: 'dm' };
  assert.equal(sessionKey({ account: 'telegram@work', chat }), 'agent:main:telegram@work:dm:42');
});

test('main, default and no agent are one agent', () => {
  const chat: Chat = { id: '42', type: 'dm' };
  const keys = [undefined, '', 'main', 'default'].map((agent) => sessionKey({ account: 'web', chat, ...(agent !== undefined && { agent }) }));
  assert.deepEqual(new Set(keys), new Set(['agent:main:web:dm:42']));
});

test('a prospective thread never changes a direct message', () => {
  const chat: Chat = { id: '42', type: 'dm', prospectiveThreadId: '7' };
  assert.equal(sessionKey({ account: 'discord', chat }), 'agent:main:discord:dm:42');
});

test('an id with colons is not taken apart when a key is read', () => {
  assert.deepEqual(parseSessionKey('agent:main:matrix:group:!r:example.org:$ev1'), {
    agent: 'main',
    account: 'matrix',
    chatType: 'group',
    rest: '!r:example.org:$ev1',
  });
  assert.deepEqual(parseSessionKey('agent:coder:telegram@work:dm'), { agent: 'coder', account: 'telegram@work', chatType: 'dm', rest: '' });
});

test('agent, account and chat type of every key can be read back', () => {
  for (const { out } of vectors.cases) {
    const parsed = parseSessionKey(out.key);
    assert.ok(parsed);
    const { agent, account, chatType, rest } = parsed;
    assert.equal(['agent', agent, account, chatType, rest].filter(Boolean).join(':'), out.key);
  }
});

test('what is not a session key is not read as one', () => {
  for (const text of ['', 'agent:main', 'agent:main:telegram', 'agent:main:telegram:private:1', 'agent::telegram:dm:1', 'agent:main:telegram:dmx', 'xagent:main:telegram:dm:1'])
    assert.equal(parseSessionKey(text), undefined, text);
});

test('the key of the same place in a chat that has taken the place of another differs in the chat only', () => {
  const move = { from: '!a:x', to: '!b:y' };
  assert.equal(keyInChat('agent:main:matrix:dm:!a:x', move), 'agent:main:matrix:dm:!b:y');
  assert.equal(keyInChat('agent:coder:matrix:group:!a:x:$thread:@me:x', move), 'agent:coder:matrix:group:!b:y:$thread:@me:x');
  assert.equal(keyInChat('agent:main:slack:group:T1:C1:U1', { from: 'C1', to: 'C2', scopeId: 'T1' }), 'agent:main:slack:group:T1:C2:U1');
  for (const other of ['agent:main:matrix:dm:!a:xy', 'agent:main:matrix:group:!c:x:!a:x', 'something else']) assert.equal(keyInChat(other, move), undefined, other);
});

test('the key of the same place for another agent differs in the agent only', () => {
  assert.equal(keyOfAgent('agent:main:telegram:dm:7', 'helper'), 'agent:helper:telegram:dm:7');
  assert.equal(keyOfAgent('agent:coder:matrix:group:!room:server:$thread', 'main'), 'agent:main:matrix:group:!room:server:$thread');
  assert.equal(keyOfAgent('agent:main:web:dm', 'helper'), 'agent:helper:web:dm');
  assert.equal(keyOfAgent('something else', 'main'), undefined);
});
