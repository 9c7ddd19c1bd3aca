import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindingOf, isInternal, placeOfSession } from './place-of-session.ts';

const place = (key: string, entry?: object): string => {
  const { account, chatType, userId, target } = placeOfSession(key, entry as never);
  return [account, chatType, userId ?? '-', target === undefined ? '-' : `${target.chatId}${target.threadId === undefined ? '' : `/${target.threadId}`}`].join(' ');
};

test('the key of a conversation says where it was', () => {
  assert.equal(place('agent:main:telegram:direct:7'), 'telegram dm 7 7');
  assert.equal(place('agent:main:telegram:dm:7'), 'telegram dm 7 7');
  assert.equal(place('agent:main:telegram:work:direct:7'), 'telegram@work dm 7 7');
  assert.equal(place('agent:main:telegram:group:-100:topic:5'), 'telegram group - -100/5');
  assert.equal(place('agent:main:discord:direct:99'), 'discord dm 99 -');
  assert.equal(place('agent:main:slack:channel:c0123456'), 'slack channel - -');
  assert.equal(place('agent:main:slack:direct:u0123456'), 'slack dm U0123456 -');
  assert.equal(place('agent:main:matrix:direct:@sam:example.org'), 'matrix dm @sam:example.org -');
});

test('a conversation of several places was where it was last', () => {
  assert.equal(place('agent:main:main', { deliveryContext: { channel: 'telegram', to: 'telegram:7', accountId: 'work' } }), 'telegram@work dm 7 7');
  assert.equal(place('agent:main:main', { lastChannel: 'telegram', lastTo: '7' }), 'telegram dm 7 7');
  assert.equal(place('agent:main:direct:7', { lastChannel: 'telegram' }), 'telegram dm 7 7');
});

test('everything else was said to the owner’s own assistant', () => {
  for (const [key, entry] of [['agent:main:main', undefined], ['agent:main:main', { lastChannel: 'webchat', lastTo: 'x' }], ['agent:main:whatsapp:direct:+49', undefined], ['main', undefined]] as const) assert.equal(place(key, entry), 'local dm owner -');
});

test('runs of jobs, helpers and hooks are no conversations', () => {
  for (const key of ['agent:main:cron:abc', 'agent:main:cron:abc:run:1', 'agent:main:subagent:x', 'agent:main:telegram:direct:7:subagent:x', 'hook:gmail:1', 'agent:main:main:heartbeat', 'cron:x']) assert.ok(isInternal(key), key);
  for (const key of ['agent:main:main', 'agent:main:telegram:direct:7', 'agent:cron:telegram:direct:7']) assert.ok(!isInternal(key), key);
});

test('a place goes on with its conversation where everybody there shares one here too', () => {
  const key = (from: string, sharing = {}): string | undefined => bindingOf(placeOfSession(from, undefined), 'main', sharing)?.sessionKey;
  assert.equal(key('agent:main:telegram:direct:7'), 'agent:main:telegram:dm:7');
  assert.equal(key('agent:main:telegram:group:-100:topic:5'), 'agent:main:telegram:group:-100:5');
  assert.equal(key('agent:main:telegram:group:-100'), undefined);
  assert.equal(key('agent:main:telegram:group:-100', { groupSessionsPerUser: false }), 'agent:main:telegram:group:-100');
  assert.equal(key('agent:main:discord:direct:99'), undefined);
});
