import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { InboundEvent } from '../../core/message.ts';
import recorded from './fixtures/recorded.json' with { type: 'json' };
import { telegramOptions } from './options.ts';
import { newParser } from './parse.ts';

const identity = { id: '42', name: 'Hermes', handle: 'hermes_bot' };

const parserWith = (options: Readonly<Record<string, unknown>> = {}) =>
  newParser({ account: 'telegram', identity, options: telegramOptions.parse({ token: '42:secret', ...options }) });

const ann = { id: 7, is_bot: false, first_name: 'Ann', last_name: 'Lee', username: 'ann' };
const privateChat = { id: 7, type: 'private', first_name: 'Ann' };
const group = { id: -100, type: 'supergroup', title: 'Team' };
const forum = { ...group, is_forum: true };

const said = (fields: object) => ({ update_id: 900, message: { message_id: 5, date: 1_700_000_000, chat: privateChat, from: ann, ...fields } });

const eventOf = (update: unknown, options?: Readonly<Record<string, unknown>>): InboundEvent => {
  const parsed = parserWith(options)(update, 1234);
  if (!('kind' in parsed)) assert.fail(`no event: ${JSON.stringify(parsed)}`);
  return parsed;
};

const reasonOf = (update: unknown, options?: Readonly<Record<string, unknown>>): string => {
  const parsed = parserWith(options)(update, 1234);
  return 'skip' in parsed ? parsed.skip : assert.fail('not skipped');
};

describe('messages', () => {
  it('become events with chat, sender, time and ids as text', () => {
    assert.deepEqual(eventOf(said({ text: 'hi' })), {
      account: 'telegram',
      kind: 'message',
      nativeId: '5',
      chat: { id: '7', type: 'dm', name: 'Ann' },
      sender: { id: '7', name: 'Ann Lee', isBot: false },
      text: 'hi',
      media: [],
      messageId: '5',
      addressed: true,
      mentioned: false,
      sentAtMs: 1_700_000_000_000,
    });
  });

  it('of groups and channels have their chat types', () => {
    assert.equal(eventOf(said({ chat: { ...group, type: 'group' }, text: 'x' })).chat.type, 'group');
    assert.equal(eventOf(said({ chat: group, text: 'x' })).chat.type, 'group');
    assert.equal(eventOf({ update_id: 1, channel_post: { message_id: 1, date: 1, chat: { id: -1, type: 'channel', title: 'News' }, text: 'x' } }).chat.type, 'channel');
  });

  it('know their forum topic, and General where they have none', () => {
    assert.equal(eventOf(said({ chat: forum, message_thread_id: 9, is_topic_message: true, text: 'x' })).chat.threadId, '9');
    assert.equal(eventOf(said({ chat: forum, text: 'x' })).chat.threadId, '1');
    assert.equal(eventOf(said({ message_thread_id: 9, is_topic_message: true, text: 'x' })).chat.threadId, '9');
    assert.equal(eventOf(said({ text: 'x', direct_messages_topic: { topic_id: 3 } })).chat.threadId, 'direct:3');
  });

  it('in a reply chain of an ordinary group are in no thread', () => {
    assert.equal(eventOf(said({ chat: group, message_thread_id: 4, text: 'x' })).chat.threadId, undefined);
  });

  it('name the topic while they hang on its creation, which is not a reply', () => {
    const anchor = { message_id: 9, date: 1, chat: forum, from: { id: 42, is_bot: true, first_name: 'Hermes' }, forum_topic_created: { name: 'Plans', icon_color: 1 } };
    const event = eventOf(said({ chat: forum, message_thread_id: 9, is_topic_message: true, reply_to_message: anchor, text: 'x' }), { require_mention: true });
    assert.equal(event.chat.topic, 'Plans');
    assert.equal(event.replyTo, undefined);
    assert.equal(event.addressed, false);
  });

  it('carry what they reply to, with the marked part', () => {
    const original = { message_id: 3, date: 1, chat: privateChat, from: { id: 42, is_bot: true, first_name: 'Hermes' }, text: 'a long answer' };
    assert.deepEqual(eventOf(said({ text: 'why?', reply_to_message: original, quote: { text: 'long', position: 2, is_manual: true } })).replyTo, {
      messageId: '3',
      isOwn: true,
      authorId: '42',
      authorName: 'Hermes',
      text: 'a long answer',
      quote: 'long',
    });
  });

  it('that reply to another chat keep the quote and claim no message of this chat', () => {
    const replyTo = eventOf(said({ text: 'see', external_reply: { origin: {}, chat: { id: -5, type: 'channel' }, message_id: 8 }, quote: { text: 'part', position: 0 } })).replyTo;
    assert.deepEqual(replyTo, { messageId: 'external:-5:8', isOwn: false, quote: 'part' });
  });

  it('of anonymous admins and channels are sent by the chat they speak as', () => {
    const placeholder = { id: 1087968824, is_bot: true, first_name: 'Group' };
    assert.deepEqual(eventOf(said({ chat: group, from: placeholder, sender_chat: group, author_signature: 'Boss', text: 'x' })).sender, { id: '-100', name: 'Boss', isBot: false });
    const post = { message_id: 1, date: 1, chat: { id: -1, type: 'channel', title: 'News' }, sender_chat: { id: -1, type: 'channel', title: 'News' }, text: 'x' };
    assert.deepEqual(eventOf({ update_id: 1, channel_post: post }).sender, { id: '-1', name: 'News', isBot: false });
  });

  it('of other bots are marked, our own are skipped', () => {
    assert.equal(eventOf(said({ chat: group, from: { id: 8, is_bot: true, first_name: 'R2' }, text: 'beep' })).sender.isBot, true);
    assert.equal(reasonOf(said({ chat: group, from: { id: 42, is_bot: true, first_name: 'Hermes' }, text: 'me' })), 'own message');
  });

  it('lose lone surrogates and nothing else', () => {
    assert.equal(eventOf(said({ text: 'a\ud800b😀' })).text, 'a\ufffdb😀');
  });

  it('of an album share its id, and long pieces of a cut text the sender', () => {
    assert.deepEqual(eventOf(said({ media_group_id: 'g1', photo: [{ file_id: 'f', width: 1, height: 1 }] })).batch, { id: 'g1', kind: 'album' });
    assert.deepEqual(eventOf(said({ text: 'x'.repeat(4000) })).batch, { id: 'split:7', kind: 'split' });
    assert.equal(eventOf(said({ text: 'x'.repeat(3999) })).batch, undefined);
  });

  it('without anything to read are skipped with what they are about', () => {
    assert.equal(reasonOf(said({ pinned_message: { message_id: 1 } })), 'no content: pinned_message');
    assert.equal(reasonOf(said({ hologram: {} })), 'no content: hologram');
  });
});

describe('content', () => {
  const mediaOf = (fields: object) => eventOf(said(fields)).media;

  it('of a photo is its largest size, with the caption as text', () => {
    const photo = [
      { file_id: 'small', file_unique_id: 's', width: 90, height: 90, file_size: 10 },
      { file_id: 'large', file_unique_id: 'l', width: 900, height: 900, file_size: 99 },
      { file_id: 'middle', file_unique_id: 'm', width: 400, height: 400, file_size: 50 },
    ];
    const event = eventOf(said({ photo, caption: 'look' }));
    assert.equal(event.text, 'look');
    assert.deepEqual(event.media, [{ kind: 'photo', mime: 'image/jpeg', sizeBytes: 99, uniqueId: 'l', ref: { file_id: 'large' } }]);
  });

  it('of files has kind, type, name and size', () => {
    const file = { file_id: 'f', file_unique_id: 'u', file_name: 'a.pdf', mime_type: 'application/pdf', file_size: 3 };
    assert.deepEqual(mediaOf({ document: file }), [{ kind: 'document', mime: 'application/pdf', name: 'a.pdf', sizeBytes: 3, uniqueId: 'u', ref: { file_id: 'f' } }]);
    assert.equal(mediaOf({ voice: { file_id: 'v' } })[0]?.mime, 'audio/ogg');
    assert.equal(mediaOf({ voice: { file_id: 'v', duration: 12 } })[0]?.durationMs, 12_000);
    assert.equal(mediaOf({ audio: { file_id: 'v' } })[0]?.kind, 'audio');
    assert.equal(mediaOf({ video: { file_id: 'v' } })[0]?.kind, 'video');
    assert.equal(mediaOf({ video_note: { file_id: 'v' } })[0]?.kind, 'video');
  });

  it('of an animation comes once although Telegram sends it as a document too', () => {
    assert.deepEqual(mediaOf({ animation: { file_id: 'a' }, document: { file_id: 'a' } }).map(({ kind }) => kind), ['animation']);
  });

  it('of a sticker is a file and a note with its emoji', () => {
    const event = eventOf(said({ sticker: { file_id: 's', emoji: '🙂', is_animated: true } }));
    assert.equal(event.text, '[sticker 🙂]');
    assert.deepEqual(event.media.map(({ kind, mime }) => [kind, mime]), [['sticker', 'application/x-tgsticker']]);
  });

  it('of places has coordinates, and the name where there is one', () => {
    assert.deepEqual(eventOf(said({ location: { latitude: 1.5, longitude: -2 } })).location, { latitude: 1.5, longitude: -2 });
    const venue = { location: { latitude: 1, longitude: 2 }, title: 'Café', address: 'Main St 1' };
    assert.deepEqual(eventOf(said({ venue, location: venue.location })).location, { latitude: 1, longitude: 2, title: 'Café Main St 1' });
  });

  for (const [fields, note] of [
    [{ contact: { phone_number: '+1', first_name: 'Bo' } }, '[contact Bo +1]'],
    [{ poll: { question: 'Tea?', options: [{ text: 'yes' }, { text: 'no' }] } }, '[poll: Tea? (yes | no)]'],
    [{ dice: { emoji: '🎲', value: 5 } }, '[dice 🎲 5]'],
    [{ story: { id: 1 } }, '[story]'],
    [{ rich_message: { blocks: [{ type: 'paragraph', text: ['rich ', { type: 'bold', text: 'words' }] }] } }, 'rich words'],
  ] as const) {
    it(`of ${Object.keys(fields)[0]} becomes ${note}`, () => assert.equal(eventOf(said(fields)).text, note));
  }
});

describe('addressing', () => {
  const mention = (text: string, name: string) => ({ text, entities: [{ type: 'mention', offset: text.indexOf(name), length: name.length }] });
  const inGroup = (fields: object, options: Readonly<Record<string, unknown>> = { require_mention: true }) => eventOf(said({ chat: group, ...fields }), options);

  it('answers everything in groups unless a mention is required', () => {
    assert.equal(inGroup({ text: 'hi' }, {}).addressed, true);
    assert.equal(inGroup({ text: 'hi' }).addressed, false);
    assert.equal(inGroup({ text: 'hi' }, { require_mention: true, free_response_chats: ['-100'] }).addressed, true);
  });

  it('finds our mention by its entity, counted in UTF-16 units, and takes it out', () => {
    const event = inGroup(mention('😀😀 @Hermes_Bot do it', '@Hermes_Bot'));
    assert.deepEqual([event.addressed, event.mentioned, event.text], [true, true, '😀😀 do it']);
    assert.equal(inGroup(mention('@hermes_bot, go', '@hermes_bot')).text, 'go');
    assert.equal(inGroup(mention('go @hermes_bot', '@hermes_bot')).text, 'go');
  });

  it('does not take a name in the text for a mention', () => {
    const event = inGroup({ text: 'mail me at x@hermes_bot' });
    assert.deepEqual([event.addressed, event.mentioned], [false, false]);
  });

  it('leaves a lone mention, and a mention beside others, in the text', () => {
    assert.equal(inGroup(mention('@hermes_bot', '@hermes_bot')).text, '@hermes_bot');
    const text = '@hermes_bot ask @bob';
    const entities = [{ type: 'mention', offset: 0, length: 11 }, { type: 'mention', offset: 16, length: 4 }];
    assert.equal(inGroup({ text, entities }).text, text);
  });

  it('knows a mention of an account without a user name', () => {
    const entities = [{ type: 'text_mention', offset: 0, length: 6, user: { id: 42, is_bot: true, first_name: 'Hermes' } }];
    assert.deepEqual([inGroup({ text: 'Hermes go', entities }).mentioned, inGroup({ text: 'Hermes go', entities }).text], [true, 'go']);
  });

  it('reads captions like texts', () => {
    const event = inGroup({ photo: [{ file_id: 'f', width: 1, height: 1 }], caption: '@hermes_bot what is this', caption_entities: [{ type: 'mention', offset: 0, length: 11 }] });
    assert.deepEqual([event.mentioned, event.text], [true, 'what is this']);
  });

  it('counts replies to us and configured patterns', () => {
    const ours = { message_id: 3, date: 1, chat: group, from: { id: 42, is_bot: true, first_name: 'Hermes' }, text: 'x' };
    assert.equal(inGroup({ text: 'and?', reply_to_message: ours }).addressed, true);
    const event = inGroup({ text: 'HEY Hermes' }, { require_mention: true, mention_patterns: ['^hey hermes'] });
    assert.deepEqual([event.addressed, event.mentioned], [true, true]);
  });

  it('stays out when other bots are named and we are not', () => {
    const other = mention('@other_bot go', '@other_bot');
    assert.equal(inGroup(other, {}).addressed, false);
    assert.equal(inGroup(other, { exclusive_bot_mentions: false }).addressed, true);
    assert.equal(inGroup(mention('@bob go', '@bob'), {}).addressed, true);
  });

  const command = (text: string) => ({ text, entities: [{ type: 'bot_command', offset: 0, length: text.split(' ')[0]?.length }] });

  it('turns /cmd@us into /cmd and skips commands for other bots', () => {
    const event = inGroup(command('/status@Hermes_bot now'));
    assert.deepEqual([event.text, event.addressed, event.mentioned], ['/status now', true, true]);
    assert.equal(inGroup(command('/status')).addressed, false);
    assert.equal(reasonOf(said({ chat: group, ...command('/status@other_bot') })), 'command for another bot');
  });

  it('never reads ignored topics', () => {
    const inTopic = said({ chat: forum, message_thread_id: 9, is_topic_message: true, text: '@hermes_bot' });
    assert.equal(reasonOf(inTopic, { ignored_threads: ['9'] }), 'ignored thread');
    assert.equal(reasonOf(inTopic, { ignored_threads: ['-100:9'] }), 'ignored thread');
    assert.equal(eventOf(inTopic, { ignored_threads: ['-200:9'] }).chat.threadId, '9');
  });
});

describe('other updates', () => {
  it('of edited messages are edits, told apart also within one second', () => {
    const edited = (updateId: number) => eventOf({ update_id: updateId, edited_message: { ...said({ text: 'new' }).message, edit_date: 1_700_000_100 } });
    assert.deepEqual([edited(1).kind, edited(1).messageId, edited(1).text], ['edit', '5', 'new']);
    assert.equal(edited(1).nativeId, '5:1700000100:1');
    assert.notEqual(edited(1).nativeId, edited(2).nativeId);
  });

  it('of a moving live location are skipped', () => {
    const message = said({ location: { latitude: 1, longitude: 2, live_period: 60 } }).message;
    assert.equal(reasonOf({ update_id: 1, edited_message: message }), 'live location update');
  });

  it('of a pressed button carry its data, message and thread', () => {
    const message = { message_id: 11, date: 1, chat: forum, message_thread_id: 9, is_topic_message: true };
    const event = eventOf({ update_id: 1, callback_query: { id: 'q1', from: ann, message, data: 'yes' } });
    assert.deepEqual([event.kind, event.nativeId, event.messageId, event.button, event.chat.threadId, event.sender.id, event.sentAtMs], ['button', 'q1', '11', { data: 'yes' }, '9', '7', 1234]);
  });

  it('of reactions say what was added or taken away', () => {
    const reaction = (before: string[], after: string[]) => {
      const as = (all: string[]) => all.map((emoji) => ({ type: 'emoji', emoji }));
      return { update_id: 77, message_reaction: { chat: privateChat, message_id: 11, user: ann, date: 5, old_reaction: as(before), new_reaction: as(after) } };
    };
    assert.deepEqual([eventOf(reaction([], ['👍'])).nativeId, eventOf(reaction([], ['👍'])).reaction], ['77', { emoji: '👍', added: true }]);
    assert.deepEqual(eventOf(reaction(['👍'], ['❤'])).reaction, { emoji: '❤', added: true });
    assert.deepEqual(eventOf(reaction(['👍'], [])).reaction, { emoji: '👍', added: false });
    assert.equal(reasonOf(reaction(['👍'], ['👍'])), 'reaction without a change');
  });

  it('of joins come once: ours as membership, others as a message', () => {
    const membership = (before: string, after: string, chat: object = group) => ({
      update_id: 3,
      my_chat_member: { chat, from: ann, date: 5, old_chat_member: { status: before }, new_chat_member: { status: after } },
    });
    assert.deepEqual([eventOf(membership('left', 'member')).kind, eventOf(membership('left', 'member')).nativeId], ['join', 'member:3']);
    assert.equal(reasonOf(membership('member', 'kicked')), 'bot removed');
    assert.equal(reasonOf(membership('member', 'administrator')), 'bot rights changed');
    assert.equal(reasonOf(membership('member', 'kicked', privateChat)), 'bot blocked');
    const us = { id: 42, is_bot: true, first_name: 'Hermes' };
    assert.equal(reasonOf(said({ chat: group, new_chat_members: [us] })), 'own join is reported by my_chat_member');
    const joined = eventOf(said({ chat: group, new_chat_members: [us, { id: 9, is_bot: false, first_name: 'Bo' }] }));
    assert.deepEqual([joined.kind, joined.text], ['join', '[joined: Bo]']);
  });

  it('of kinds that do not exist yet are skipped by name', () => {
    assert.equal(reasonOf({ update_id: 1, hologram: {} }), 'unknown update: hologram');
    assert.equal(reasonOf({ update_id: 1 }), 'unknown update: empty');
    assert.equal(reasonOf('text'), 'malformed update');
  });
});

describe('places', () => {
  const parsed = (fields: object) => parserWith()(said(fields), 0);

  it('that go on under another id say so, in the old one and in the new one', () => {
    const move = { moved: { from: '-5', to: '-1005' } };
    assert.deepEqual(parsed({ chat: { id: -5, type: 'group', title: 'Team' }, migrate_to_chat_id: -1005 }), move);
    assert.deepEqual(parsed({ chat: { ...group, id: -1005 }, from: { id: 42, is_bot: true, first_name: 'Hermes' }, migrate_from_chat_id: -5 }), move);
  });

  it('that a person names say so; those that we name do not', () => {
    const topic = { chat: forum, message_thread_id: 9, is_topic_message: true, forum_topic_edited: { name: 'Mine' } };
    assert.deepEqual(parsed(topic), { renamed: { chatId: '-100', threadId: '9' } });
    assert.deepEqual(parsed({ ...topic, from: { id: 42, is_bot: true, first_name: 'Hermes' } }), { skip: 'own message' });
    assert.ok('skip' in parsed({ ...topic, forum_topic_edited: { icon_custom_emoji_id: '1' } }), 'another picture is no name');
  });
});

describe('anything', () => {
  it('recorded on the real platform is understood', () => {
    const parse = newParser({ account: 'telegram', identity: { id: recorded.bot.id, name: 'x', handle: recorded.bot.username }, options: telegramOptions.parse({ token: '1:a' }) });
    const texts = Object.values(recorded.updates).map((update) => {
      const parsed = parse(update, 0);
      return 'kind' in parsed ? [parsed.text, parsed.mentioned, parsed.sender.name] : parsed;
    });
    assert.deepEqual(texts, [['hi', true, 'Test User'], ['how are you', false, 'Test User']]);
  });

  it('of a megabyte is read', () => {
    const text = '@hermes_bot '.repeat(90_000);
    assert.equal(eventOf(said({ text, entities: [{ type: 'mention', offset: 0, length: 11 }] })).text.length, text.length - 13);
  });

  it('of the wrong type is skipped or read without throwing, and stays plain JSON', () => {
    const fields = ['text', 'caption', 'entities', 'from', 'sender_chat', 'reply_to_message', 'photo', 'sticker', 'location', 'venue', 'poll', 'rich_message', 'quote', 'new_chat_members', 'external_reply'];
    const parse = parserWith({ require_mention: true });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...fields), fc.jsonValue()), fc.constantFrom('message', 'edited_message', 'callback_query', 'message_reaction', 'my_chat_member'), (garbage, kind) => {
        const parsed = parse({ update_id: 1, [kind]: { message_id: 1, date: 1, chat: group, ...garbage } }, 0);
        assert.deepEqual(JSON.parse(JSON.stringify(parsed)), parsed);
      }),
      { numRuns: 300 },
    );
  });
});
