import assert from 'node:assert/strict';
import { test } from 'node:test';
import deliveryTargets from '../../test/vectors/delivery-targets.json' with { type: 'json' };
import sendTargets from '../../test/vectors/send-targets.json' with { type: 'json' };
import { chatsLike, parseTarget, printTarget } from './target.ts';
import type { ChatRef, TargetPlatform } from './target.ts';

const readSlack = (ref: string): ChatRef | undefined => {
  const user = /^<@(U[A-Z0-9]+)(?:\|[^>]*)?>$/.exec(ref)?.[1];
  if (user !== undefined) return { chatId: `user:${user}` };
  if (/^@[\w.-]+$/.test(ref)) return { chatId: `user_name:${ref.slice(1)}` };
  return chatsLike(/^[CDGU][A-Za-z0-9]{6,}$/)(ref);
};

const platforms: readonly TargetPlatform[] = [
  { name: 'telegram' },
  { name: 'discord' },
  { name: 'whatsapp' },
  { name: 'sms' },
  { name: 'email' },
  { name: 'weixin' },
  { name: 'xmpp' },
  { name: 'mattermost' },
  { name: 'api_server' },
  { name: 'slack', readChat: readSlack },
  { name: 'matrix', readChat: chatsLike(/^[!@][^:]+(?::[^:$]+(?::\d+)?)?$/) },
  { name: 'signal', readChat: chatsLike(/^(?:group:[\w+/=-]+|\+\d+)$/) },
  { name: 'feishu', readChat: chatsLike(/^o[cu]_\w+$/) },
  { name: 'ntfy', readChat: (topic) => ({ chatId: topic }) },
  { name: 'webhook', readChat: (route) => ({ chatId: route }) },
];

/** Matrix rooms were cut at their colon; an unknown platform silently became a local file. */
const better: Readonly<Record<string, object>> = {
  'matrix-room-colon': { type: 'chat', account: 'matrix', chatId: '!room:example.org' },
  'matrix-room-thread': { type: 'chat', account: 'matrix', chatId: '!room:example.org', threadId: '$ev' },
  'unknown-platform': { type: 'unknown_platform', platform: 'carrierpigeon' },
};

const expectedOf = (out: (typeof deliveryTargets.cases)[number]['out']): object => {
  if (out.is_origin) return { type: 'origin' };
  if (out.platform === 'local') return { type: 'local' };
  if (out.chat_id === null) return { type: 'home', account: out.platform };
  return { type: 'chat', account: out.platform, chatId: out.chat_id, ...(out.thread_id !== null && { threadId: out.thread_id }) };
};

test('targets of the original mean what they meant, and print as they were', async (t) => {
  for (const { id, in: input, out } of deliveryTargets.cases) {
    await t.test(id, () => {
      const target = parseTarget(input.target, platforms);
      assert.deepEqual(target, better[id] ?? expectedOf(out));
      if (target.type !== 'unknown_platform' && target.type !== 'malformed') assert.equal(printTarget(target), out.text);
    });
  }
});

test('a reference is a native id or a name to look up', async (t) => {
  for (const { id, in: input, out } of sendTargets.cases) {
    await t.test(id, () => {
      const target = parseTarget(`${input.platform}:${input.ref}`, platforms);
      const account = input.platform;
      const chat = { type: 'chat', account, chatId: out.chat_id, ...(out.thread_id !== null && { threadId: out.thread_id }) };
      assert.deepEqual(target, out.explicit ? chat : { type: 'name', account, name: input.ref });
    });
  }
});

test('a further account of a platform can be named', () => {
  assert.deepEqual(parseTarget('Telegram@work', platforms), { type: 'home', account: 'telegram@work' });
  assert.deepEqual(parseTarget('telegram@work:-100:17', platforms), { type: 'chat', account: 'telegram@work', chatId: '-100', threadId: '17' });
  assert.deepEqual(parseTarget('email:a@example.org', platforms), { type: 'chat', account: 'email', chatId: 'a@example.org' });
});

test('what is not a target is refused, with the text that was given', () => {
  for (const text of ['', '  ', ':', 'telegram:', 'telegram@', '@work:1', 'two words']) assert.deepEqual(parseTarget(text, platforms), { type: 'malformed', text });
  assert.deepEqual(parseTarget('local:1', platforms), { type: 'unknown_platform', platform: 'local' });
});

test('a target survives being printed and read again', () => {
  for (const text of ['origin', 'local', 'telegram@work', 'slack:C0ABCdef:1700000000.000100', 'matrix:!r:example.org:8448:$ev', 'signal:group:AbC=', 'discord:#general', 'sms:mum']) {
    const target = parseTarget(text, platforms);
    assert.ok(target.type !== 'unknown_platform' && target.type !== 'malformed');
    assert.equal(printTarget(target), text);
  }
});
