import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { InboundEvent } from '../../core/message.ts';
import recorded from './fixtures/recorded.json' with { type: 'json' };
import { slackOptions } from './options.ts';
import { parseEvent, parsePress, parseSlash } from './parse.ts';
import type { Parsed, Reading } from './reading.ts';
import type { Workspace } from './workspaces.ts';
import { openApi } from './api.ts';

const api = openApi({ base_url: 'http://127.0.0.1:9/api', request_timeout_seconds: 1 }, 'xoxb-none');
const workspace: Workspace = { api, teamId: 'T00FAKE00AA', teamName: 'Acme', userId: 'U00FAKEBOT01', botId: 'B00FAKEBOT01', userName: 'hermes', missingScopes: [] };

const reading = (options: Readonly<Record<string, unknown>> = {}, known: readonly string[] = []): Reading => ({
  account: 'slack',
  options: slackOptions.parse({ bot_token: 'xoxb-1', app_token: 'xapp-1', ...options }),
  workspaces: [workspace],
  takesPart: ({ channelId, threadTs }) => known.includes(`${channelId}:${threadTs}`),
  isCommand: (word) => ['status', 'stop'].includes(word),
});

const ts = '1700000000.000100';
const base = { type: 'message', user: 'U0PERSON01', ts, text: 'hello', channel: 'C0GENERAL1', channel_type: 'channel', event_ts: ts };

const parse = (event: object, options: Readonly<Record<string, unknown>> = {}, known: readonly string[] = []): Parsed => parseEvent(reading(options, known), { team_id: 'T00FAKE00AA', event: { ...base, ...event } });

const event = (parsed: Parsed): InboundEvent => {
  if ('skip' in parsed) assert.fail(`skipped: ${parsed.skip}`);
  return parsed;
};

const reason = (parsed: Parsed): string => ('skip' in parsed ? parsed.skip : assert.fail('not skipped'));

describe('who a message is for', () => {
  const isAddressed = (change: object, options: Readonly<Record<string, unknown>> = {}, known: readonly string[] = []): boolean => event(parse(change, options, known)).addressed;

  it('is the agent in a direct message, and in a channel when it is mentioned', () => {
    assert.ok(isAddressed({ channel: 'D1', channel_type: 'im' }));
    assert.ok(isAddressed({ text: '<@U00FAKEBOT01> hello' }));
    assert.ok(!isAddressed({}));
    assert.ok(!isAddressed({ text: '<@U2> hello' }));
  });

  it('is the agent in a group of direct messages only by the rules of channels', () => {
    const group = { channel: 'G1', channel_type: 'mpim' };
    assert.equal(event(parse(group)).chat.type, 'group');
    assert.ok(!isAddressed(group));
    assert.ok(isAddressed({ ...group, text: '<@U00FAKEBOT01> hello' }));
  });

  it('is the agent in threads that it has begun or was called into', () => {
    const inThread = { thread_ts: '1699999999.000100' };
    assert.ok(!isAddressed(inThread));
    assert.ok(isAddressed({ ...inThread, parent_user_id: 'U00FAKEBOT01' }));
    assert.ok(isAddressed(inThread, {}, ['C0GENERAL1:1699999999.000100']));
    assert.ok(!isAddressed(inThread, { thread_require_mention: true }, ['C0GENERAL1:1699999999.000100']));
  });

  it('is decided by the channel first, then by the account', () => {
    assert.ok(isAddressed({}, { require_mention: false }));
    assert.ok(isAddressed({}, { free_response_channels: ['C0GENERAL1'] }));
    assert.ok(!isAddressed({}, { require_mention: false, require_mention_channels: ['C0GENERAL1'], free_response_channels: ['C0GENERAL1'] }));
    assert.ok(isAddressed({ text: 'hey Hermes' }, { mention_patterns: ['^hey hermes'] }));
    assert.ok(!isAddressed({ text: '<@U2> hello' }, { require_mention: false, ignore_other_user_mentions: true }));
  });

  it('is nobody in channels that are not read', () => {
    assert.equal(reason(parse({}, { ignored_channels: ['C0GENERAL1'] })), 'ignored channel');
    assert.equal(reason(parse({}, { allowed_channels: ['C2'] })), 'not an allowed channel');
    assert.ok(isAddressed({ channel: 'D1' }, { allowed_channels: ['C2'] }));
  });
});

describe('a message', () => {
  it('begins a thread in a channel, and belongs to the thread it is in', () => {
    assert.deepEqual(event(parse({})).chat, { id: 'C0GENERAL1', type: 'group', scopeId: 'T00FAKE00AA', threadId: ts });
    assert.equal(event(parse({ thread_ts: ts, reply_count: 1 })).chat.threadId, ts);
    const below = event(parse({ thread_ts: '1.000001', parent_user_id: 'U2' }));
    assert.deepEqual([below.chat.threadId, below.replyTo], ['1.000001', { messageId: '1.000001', isOwn: false, authorId: 'U2' }]);
  });

  it('stands for itself in a direct chat, and in channels if answers do not go into threads', () => {
    assert.deepEqual(event(parse({ channel: 'D1' })).chat, { id: 'D1', type: 'dm', scopeId: 'T00FAKE00AA' });
    assert.equal(event(parse({}, { reply_in_thread: false })).chat.threadId, undefined);
  });

  it('has one id, also when Slack tells it as a mention', () => {
    const [first, second] = [event(parse({ text: '<@U00FAKEBOT01> hi' })), event(parse({ type: 'app_mention', channel_type: undefined, text: '<@U00FAKEBOT01> hi' }))];
    assert.deepEqual(first, second);
    assert.deepEqual([first.nativeId, first.text, first.mentioned], [ts, 'hi', true]);
  });

  it('of our own is not heard, whichever way it says so', () => {
    assert.equal(reason(parse({ user: 'U00FAKEBOT01' })), 'own message');
    assert.equal(reason(parse({ user: undefined, bot_id: 'B00FAKEBOT01', subtype: 'bot_message' })), 'own message');
  });

  it('of another bot is called one', () => {
    assert.deepEqual(event(parse({ user: undefined, bot_id: 'B2', subtype: 'bot_message', username: 'CI' })).sender, { id: 'B2', isBot: true, name: 'CI' });
    assert.deepEqual(event(parse({ user: 'U9', bot_id: 'B2', bot_profile: { name: 'CI' } })).sender, { id: 'U9', isBot: true, name: 'CI' });
  });

  it('of a bot that has only blocks or attachments says what stands there', () => {
    assert.equal(event(parse({ text: '', bot_id: 'B2', blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'from a block' } }] })).text, 'from a block');
    assert.equal(event(parse({ text: '', bot_id: 'B2', attachments: [{ fallback: 'from an attachment' }] })).text, 'from an attachment');
  });

  it('that was passed on carries what it is about, and previews of links are left out', () => {
    assert.equal(event(parse({ text: 'see', attachments: [{ is_share: true, author_name: 'Bob', text: 'the &lt;news&gt;' }] })).text, 'see\n[shared message by Bob: the <news>]');
    assert.equal(event(parse({ text: 'see', attachments: [{ text: 'a preview', from_url: 'https://example.org' }] })).text, 'see');
  });

  it('carries its files, a recording as a voice', () => {
    const files = [
      { id: 'F1', name: 'a.png', mimetype: 'image/png', size: 5, mode: 'hosted' },
      { id: 'F2', name: 'audio_message.m4a', mimetype: 'audio/mp4', subtype: 'slack_audio', duration_ms: 1500, mode: 'hosted' },
      { id: 'F3', mode: 'tombstone' },
      { id: 'F4', mode: 'external', title: 'Plan', external_url: 'https://example.org/plan' },
    ];
    const { media, text } = event(parse({ text: '', subtype: 'file_share', files }));
    assert.deepEqual(media, [
      { kind: 'photo', mime: 'image/png', name: 'a.png', sizeBytes: 5, uniqueId: 'F1', ref: { file: 'F1', team: 'T00FAKE00AA' } },
      { kind: 'voice', mime: 'audio/mp4', name: 'audio_message.m4a', durationMs: 1500, uniqueId: 'F2', ref: { file: 'F2', team: 'T00FAKE00AA' } },
    ]);
    assert.equal(text, '[file: Plan https://example.org/plan]');
  });

  it('is not what Slack itself notes about a channel', () => {
    for (const subtype of ['channel_join', 'channel_topic', 'pinned_item', 'huddle_thread']) assert.equal(reason(parse({ subtype })), `no content: ${subtype}`);
    assert.equal(reason(parse({ subtype: 'message_deleted', deleted_ts: ts })), 'message deleted');
    assert.equal(reason(parse({ text: '' })), 'no content: empty');
  });

  it('of a workspace without a token is not taken, and of one installation is found by who we are there', () => {
    const elsewhere = { team_id: 'T9', event: base };
    assert.equal(reason(parseEvent(reading(), elsewhere)), 'a workspace without a token');
    assert.equal(event(parseEvent(reading(), { ...elsewhere, authorizations: [{ team_id: 'T00FAKE00AA' }] })).chat.scopeId, 'T00FAKE00AA');
    assert.equal(event(parseEvent(reading(), { ...elsewhere, authorizations: [{ user_id: 'U00FAKEBOT01' }] })).chat.scopeId, 'T00FAKE00AA');
  });
});

describe('a change', () => {
  const change = (now: object, before: object = base): object => ({ subtype: 'message_changed', message: { ...base, ...now }, previous_message: before, ts: '1700000009.000100' });

  it('of somebody is an edit with an id of its own, at the place of the message', () => {
    const edit = event(parse(change({ text: 'hello!', edited: { user: 'U0PERSON01', ts: '1700000009.000000' } })));
    assert.deepEqual([edit.kind, edit.nativeId, edit.messageId, edit.text, edit.chat.threadId], ['edit', `${ts}:1700000009.000000`, ts, 'hello!', ts]);
  });

  it('of anything but the words is none', () => {
    const unchanged = 'the words of the message did not change';
    assert.equal(reason(parse(change({ attachments: [{ text: 'preview' }] }))), unchanged);
    assert.equal(reason(parse(change({ edited: { ts: '1700000009.000000' } }))), unchanged);
    assert.equal(reason(parse(change({ text: 'x', user: 'U00FAKEBOT01', edited: { ts: '1700000009.000000' } }))), 'own message');
  });
});

describe('other events', () => {
  it('reactions name their emoji, and ours are not heard', () => {
    const reaction = { type: 'reaction_added', reaction: '+1', item: { type: 'message', channel: 'C0GENERAL1', ts }, channel: undefined };
    const { kind, messageId, reaction: read, chat } = event(parse(reaction));
    assert.deepEqual([kind, messageId, read, chat.id, chat.threadId], ['reaction', ts, { emoji: '👍', added: true }, 'C0GENERAL1', undefined]);
    assert.deepEqual(event(parse({ ...reaction, type: 'reaction_removed', reaction: 'party_parrot' })).reaction, { emoji: ':party_parrot:', added: false });
    assert.equal(reason(parse({ ...reaction, user: 'U00FAKEBOT01' })), 'own reaction');
  });

  it('our own joining is by whoever invited us', () => {
    const { kind, sender, addressed } = event(parse({ type: 'member_joined_channel', user: 'U00FAKEBOT01', inviter: 'U7' }));
    assert.deepEqual([kind, sender.id, addressed], ['join', 'U7', true]);
  });

  it('slash commands are commands where they name one, and for one person only in a channel', () => {
    const slash = (command: string, text: string, channelId = 'C0GENERAL1'): InboundEvent => event(parseSlash(reading(), { team_id: 'T00FAKE00AA', command, text, channel_id: channelId, user_id: 'U1', user_name: 'ada', trigger_id: '1.2.3' }, 5));
    assert.equal(slash('/hermes', 'status').text, '/status');
    assert.equal(slash('/hermes', '/stop now').text, '/stop now');
    assert.equal(slash('/hermes', 'how are you?').text, 'how are you?');
    assert.equal(slash('/hermes', '').text, '/help');
    assert.equal(slash('/status', 'all').text, '/status all');
    assert.deepEqual(slash('/hermes', 'x').chat, { id: 'C0GENERAL1', type: 'group', scopeId: 'T00FAKE00AA', threadId: 'slash:U1' });
    assert.deepEqual(slash('/hermes', 'x', 'D1').chat, { id: 'D1', type: 'dm', scopeId: 'T00FAKE00AA' });
  });

  it('buttons that are not ours are left alone', () => {
    const action = recorded.payloads.find(({ name }) => name === 'actions-reactions_slack/action')?.payload;
    assert.equal(reason(parsePress(reading(), action, 5)), 'a button that is not ours');
  });

  it('nothing makes the parser fail', () => {
    const parsers = [parseEvent, parsePress, parseSlash] as const;
    for (const { payload } of recorded.payloads) {
      fc.assert(
        fc.property(fc.jsonValue(), fc.nat(), (value, at) => {
          const text = JSON.stringify(payload);
          const keys = [...text.matchAll(/"(\w+)":/g)].map(([, key = '']) => key);
          const key = keys[at % keys.length] ?? '';
          const broken: unknown = JSON.parse(text, (name, old: unknown) => (name === key ? value : old));
          for (const parser of parsers) parser(reading(), broken, 5);
        }),
        { numRuns: 20 },
      );
    }
  });
});
