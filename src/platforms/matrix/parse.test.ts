import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matrixOptions } from './options.ts';
import { newParser } from './parse.ts';
import type { Surroundings } from './parse.ts';
import { readEvent } from './wire.ts';
import type { Json } from './wire.ts';

const identity = { id: '@hermes:example.org', name: 'Hermes', handle: '@hermes:example.org' };
const common = { homeserver: 'https://example.org', access_token: 'x' };

const dm: Surroundings = { room: { id: '!dm:example.org', type: 'dm', encrypted: false }, inOwnThread: false };
const group: Surroundings = { room: { id: '!g:example.org', type: 'group', name: 'Team', encrypted: false }, inOwnThread: false };

const eventOf = (content: Json, more: Json = {}) => readEvent({ event_id: '$e', type: 'm.room.message', sender: '@alice:example.org', origin_server_ts: 1000, content, ...more }) ?? assert.fail('it is an event');

const parse = (content: Json, { around = dm, options = {}, more = {} }: { around?: Surroundings; options?: Json; more?: Json } = {}) =>
  newParser({ account: 'matrix', identity, options: matrixOptions.parse({ ...common, ...options }) })(eventOf(content, more), around);

const text = (body: string, more: Json = {}): Json => ({ msgtype: 'm.text', body, ...more });

const said = (parsed: ReturnType<typeof parse>) => ('skip' in parsed ? assert.fail(parsed.skip) : parsed);

describe('a message', () => {
  it('carries its place, its sender and its time', () => {
    assert.deepEqual(said(parse(text('hi'), { around: { ...group, senderName: 'Alice' }, options: { auto_thread: false } })), {
      account: 'matrix',
      kind: 'message',
      nativeId: '$e',
      chat: { id: '!g:example.org', type: 'group', name: 'Team', scopeId: 'example.org' },
      sender: { id: '@alice:example.org', isBot: false, name: 'Alice' },
      text: 'hi',
      media: [],
      messageId: '$e',
      addressed: false,
      mentioned: false,
      sentAtMs: 1000,
    });
  });

  for (const [what, content, options, expected] of [
    ['named by its client', text('Hermes: do it', { 'm.mentions': { user_ids: [identity.id] } }), {}, ['do it', true]],
    ['with our whole id, by an older client', text('@hermes:example.org do it'), {}, ['do it', true]],
    ['with a pill, by an older client', text('Hermes do it', { formatted_body: '<a href="https://matrix.to/#/%40hermes%3Aexample.org">Hermes</a> do it' }), {}, ['do it', true]],
    ['with our name in passing', text('Hermes was a god', { 'm.mentions': {} }), {}, ['Hermes was a god', false]],
    ['that names somebody else', text('@bob:example.org do it', { 'm.mentions': { user_ids: ['@bob:example.org'] } }), {}, ['@bob:example.org do it', false]],
    ['that a pattern fits', text('hey bot, do it', { 'm.mentions': {} }), { mention_patterns: ['\\bbot\\b'] }, ['hey bot, do it', true]],
    ['that is nothing but the mention', text('@hermes:example.org'), {}, ['@hermes:example.org', true]],
  ] as const) {
    it(`${what} is ${expected[1] ? '' : 'not '}for us`, () => {
      const event = said(parse(content, { around: group, options }));
      assert.deepEqual([event.text, event.mentioned, event.addressed], [expected[0], expected[1], expected[1]]);
    });
  }

  for (const [what, around, options, addressed] of [
    ['in a direct chat', dm, {}, true],
    ['in a room', group, {}, false],
    ['in a room that needs no mention', group, { require_mention: false }, true],
    ['in a room where everything is answered', group, { free_response_rooms: ['!g:example.org'] }, true],
    ['that answers one of ours', { ...group, replyTo: { messageId: '$o', isOwn: true } }, {}, true],
    ['that answers somebody else', { ...group, replyTo: { messageId: '$o', isOwn: false } }, {}, false],
    ['in a thread that we speak in', { ...group, inOwnThread: true }, {}, true],
  ] as const) {
    it(`${what} is ${addressed ? '' : 'not '}addressed to us`, () => {
      assert.equal(said(parse(text('hi'), { around, options })).addressed, addressed);
    });
  }

  it('that answers another is read without the repetition of it', () => {
    const relation = { 'm.relates_to': { 'm.in_reply_to': { event_id: '$o' } } };
    assert.equal(said(parse(text('> <@bob:example.org> one\n> two\n\nmy answer\n> my quote', relation))).text, 'my answer\n> my quote');
    assert.equal(said(parse(text('> a quote of my own'))).text, '> a quote of my own');
  });

  for (const [what, around, content, options, threadId] of [
    ['in a thread stays there', group, text('x', { 'm.relates_to': { rel_type: 'm.thread', event_id: '$root' } }), {}, '$root'],
    ['in a room opens a thread', group, text('x'), {}, '$e'],
    ['in a room opens none when that is off', group, text('x'), { auto_thread: false }, undefined],
    ['in a direct chat opens none', dm, text('x'), {}, undefined],
    ['in a direct chat opens one when that is on', dm, text('x'), { dm_auto_thread: true }, '$e'],
    ['that is edited belongs to its old place', { ...group, editedThread: '$root' }, text('* y', { 'm.new_content': text('y'), 'm.relates_to': { rel_type: 'm.replace', event_id: '$old' } }), {}, '$root'],
    ['that is edited belongs to the thread that it opened', group, text('* y', { 'm.new_content': text('y'), 'm.relates_to': { rel_type: 'm.replace', event_id: '$old' } }), {}, '$old'],
  ] as const) {
    it(what, () => {
      assert.equal(said(parse(content, { around, options })).chat.threadId, threadId);
    });
  }

  for (const [what, content, expected] of [
    ['a picture, whose name is no text', { msgtype: 'm.image', body: 'a.png', url: 'mxc://s/1', info: { mimetype: 'image/png', size: 5 } }, ['', { kind: 'photo', mime: 'image/png', ref: { url: 'mxc://s/1' }, name: 'a.png', sizeBytes: 5 }]],
    ['a file with words', { msgtype: 'm.file', body: 'look', filename: 'a.pdf', url: 'mxc://s/1', info: { mimetype: 'application/pdf' } }, ['look', { kind: 'document', mime: 'application/pdf', ref: { url: 'mxc://s/1' }, name: 'a.pdf' }]],
    ['a voice message', { msgtype: 'm.audio', body: 'Voice', url: 'mxc://s/1', info: { mimetype: 'audio/ogg', duration: 900 }, 'org.matrix.msc3245.voice': {} }, ['', { kind: 'voice', mime: 'audio/ogg', ref: { url: 'mxc://s/1' }, name: 'Voice', durationMs: 900 }]],
    ['a recording', { msgtype: 'm.audio', body: 'song.mp3', url: 'mxc://s/1', info: { mimetype: 'audio/mpeg' } }, ['', { kind: 'audio', mime: 'audio/mpeg', ref: { url: 'mxc://s/1' }, name: 'song.mp3' }]],
    [
      'an encrypted file',
      { msgtype: 'm.file', body: 'a.bin', file: { v: 'v2', url: 'mxc://s/1', key: { k: 'K' }, iv: 'I', hashes: { sha256: 'H' } } },
      ['', { kind: 'document', mime: 'application/octet-stream', ref: { url: 'mxc://s/1', key: 'K', iv: 'I', sha256: 'H' }, name: 'a.bin' }],
    ],
  ] as const) {
    it(`may be ${what}`, () => {
      const event = said(parse(content));
      assert.deepEqual([event.text, event.media[0]], expected);
    });
  }

  it('may be a place', () => {
    assert.deepEqual(said(parse({ msgtype: 'm.location', body: 'Here', geo_uri: 'geo:52.5,-13.25;u=3' })).location, { latitude: 52.5, longitude: -13.25, title: 'Here' });
  });

  for (const [what, content, options, more, reason] of [
    ['our own', text('x'), {}, { sender: identity.id }, 'own event'],
    ['a notice', { msgtype: 'm.notice', body: 'x' }, {}, {}, 'a notice'],
    ['from an ignored person', text('x'), { ignore_user_patterns: ['^@_?irc_'] }, { sender: '@irc_bob:example.org' }, 'an ignored person'],
    ['taken back', {}, {}, { unsigned: { redacted_because: {} } }, 'taken back'],
    ['with a file from anywhere else', { msgtype: 'm.image', body: 'x', url: 'https://evil.example/x.png' }, {}, {}, 'no content: m.image'],
    ['of a kind that does not exist yet', {}, {}, { type: 'org.example.new' }, 'unknown event: org.example.new'],
  ] as const) {
    it(`is skipped when it is ${what}`, () => {
      assert.deepEqual(parse(content, { options, more }), { skip: reason });
    });
  }

  it('is skipped in a room that is not one of the allowed ones, and never in a direct chat', () => {
    const options = { allowed_rooms: ['!other:example.org'] };
    assert.deepEqual(parse(text('x'), { around: group, options }), { skip: 'not one of allowed_rooms' });
    assert.equal(said(parse(text('x'), { options })).text, 'x');
  });

  it('of a bot is heard as one when notices are', () => {
    assert.equal(said(parse({ msgtype: 'm.notice', body: 'x' }, { options: { process_notices: true } })).sender.isBot, true);
  });
});
