import assert from 'node:assert/strict';
import { replyTarget } from '../core/message.ts';
import { aMoment, eventually, eventWith, never, notOffered } from './conformance-bench.ts';
import type { Clause } from './conformance-bench.ts';

const text = 'Grüße an 👩‍👩‍👧 und 世界\nin two lines';

/** What people say, and what they see. */
export const messages: Readonly<Record<string, Clause>> = {
  'a direct message arrives whole': async ({ platform, running, say, place }) => {
    const beforeMs = Date.now();
    const nativeId = await say({ text });
    const event = await eventWith(running.inbox, text);
    const { chatId, chatType, senderId } = place('dm');
    assert.deepEqual({ account: event.account, kind: event.kind, nativeId: event.nativeId, media: event.media }, { account: platform.name, kind: 'message', nativeId, media: [] });
    assert.deepEqual([event.chat.id, event.chat.type, event.sender.id, event.sender.isBot], [chatId, chatType, senderId, false]);
    assert.ok(event.addressed && event.messageId !== undefined);
    assert.ok(event.sentAtMs > beforeMs - 60_000 && event.sentAtMs < beforeMs + 60_000, `sent at ${new Date(event.sentAtMs).toISOString()}`);
  },

  'an event survives being stored': async ({ running, say }) => {
    await say({ text });
    const event = await eventWith(running.inbox, text);
    assert.deepEqual(JSON.parse(JSON.stringify(event)), event);
  },

  'messages arrive in the order they were written': async ({ running, say }) => {
    const texts = ['first', 'second', 'third', 'fourth'];
    for (const each of texts) await say({ text: each });
    await eventWith(running.inbox, 'fourth');
    assert.deepEqual(
      running.inbox.events.map((event) => event.text),
      texts,
    );
  },

  'a mention is taken off and marked': async ({ running, say, place }) => {
    const group = place('group');
    await say({ ...group, text: 'and you?', mention: true });
    const mentioned = await eventWith(running.inbox, 'and you?');
    assert.ok(mentioned.mentioned && mentioned.addressed);
    assert.deepEqual([mentioned.chat.id, mentioned.chat.type, mentioned.sender.id], [group.chatId, 'group', group.senderId]);
    await say({ ...group, text: 'just talking' });
    assert.equal((await eventWith(running.inbox, 'just talking')).mentioned, false);
  },

  'whoever pretends to be somebody is not taken for them': async ({ simulator, running, say, place }) => {
    if (simulator.forge === undefined) return notOffered('nobody can pretend to be somebody else there');
    await simulator.forge({ ...place('dm'), text: 'it is me, honestly' });
    assert.notEqual((await eventWith(running.inbox, 'it is me, honestly')).sender.unverified, undefined);
    await say({ text: 'it is really me' });
    assert.equal((await eventWith(running.inbox, 'it is really me')).sender.unverified, undefined);
    return undefined;
  },

  'its own messages do not come back': async ({ running, say }) => {
    await say({ text: 'from ourselves', own: true });
    await say({ text: 'from a person' });
    await eventWith(running.inbox, 'from a person');
    await aMoment();
    assert.deepEqual(
      running.inbox.offered.map((event) => event.text),
      ['from a person'],
    );
  },

  'an event that is delivered again has its first id': async ({ simulator, running, say }) => {
    const nativeId = await say({ text: 'twice' });
    await eventWith(running.inbox, 'twice');
    await simulator.redeliver(nativeId);
    const [first, second] = await eventually(() => running.inbox.offered.length === 2 && running.inbox.offered, 'it came a second time');
    assert.deepEqual([second?.nativeId, second?.kind, second?.chat.id], [first?.nativeId, first?.kind, first?.chat.id]);
    assert.equal(running.inbox.events.length, 1);
  },

  'nothing is acknowledged before it is stored': async ({ simulator, running, say }) => {
    const stored = Promise.withResolvers<void>();
    running.inbox.before = () => stored.promise;
    const acknowledged = simulator.acknowledged();
    const said = say({ text: 'wait' });
    await eventually(() => running.inbox.offered.length === 1, 'the message arrived');
    await aMoment();
    assert.equal(simulator.acknowledged(), acknowledged);
    stored.resolve();
    await said;
    await eventually(() => simulator.acknowledged() === acknowledged + 1, 'the message was acknowledged');
  },

  'what could not be stored is not acknowledged, and comes again': async ({ simulator, running, run, say }) => {
    running.inbox.before = () => Promise.reject(new Error('the disk is full'));
    const acknowledged = simulator.acknowledged();
    const nativeId = await say({ text: 'keep me' });
    await eventually(() => running.inbox.offered.length > 0, 'the message arrived');
    await aMoment();
    assert.equal(simulator.acknowledged(), acknowledged);
    await running.stop();
    const { inbox } = await run();
    await simulator.redeliver(nativeId);
    await eventWith(inbox, 'keep me');
  },

  'what is sent is what people see': async ({ adapter, message, visible }) => {
    const { messageIds } = await adapter.send(message('**Bold** and _soft_ and `code`, see [this](https://example.org).'), never);
    const shown = await eventually(() => visible()[0], 'the message is shown');
    assert.deepEqual(messageIds, [shown.id]);
    const words = 'Bold and soft and code, see this';
    assert.equal(shown.text.slice(0, words.length), words);
    assert.equal(visible().length, 1);
  },

  'signs that are no markup are shown as they are': async ({ adapter, message, visible }) => {
    const literal = '2*3*4 < 5 & <b>no tag</b> snake_case_name #1 a|b {x} [y] (z) ~5 @nobody \\o/ 50% $5 = "q" 1.5!';
    await adapter.send(message(literal), never);
    const shown = await eventually(() => visible()[0], 'the message is shown');
    assert.equal(shown.text, literal);
  },

  'plain text is not read as markup': async ({ adapter, message, visible }) => {
    const literal = '**not bold** _not soft_ [no](link) `no code` <i>x</i> &amp;';
    await adapter.send(message(literal, { plain: true }), never);
    const shown = await eventually(() => visible()[0], 'the message is shown');
    assert.equal(shown.text, literal);
  },

  'a text at the limit is sent whole, in the unit of the platform': async ({ platform: { limits }, adapter, message, visible }) => {
    for (const [count, unit] of ['a', '世', '😀'].entries()) {
      const full = unit.repeat(Math.floor(limits.text / limits.measure(unit)));
      assert.ok(limits.measure(full) <= limits.text && limits.measure(full + unit) > limits.text, `${unit} is not measured evenly`);
      await adapter.send(message(full), never);
      const shown = await eventually(() => visible()[count], 'the message is shown');
      assert.ok(shown.text === full, `${shown.text.length} of ${full.length} characters of ${unit}`);
    }
  },

  'an answer is attached to the message it answers': async ({ adapter, running, say, message, visible }) => {
    await say({ text: 'question' });
    const { messageId } = await eventWith(running.inbox, 'question');
    if (messageId === undefined) return notOffered('its messages have no ids');
    const answer = message('answer');
    await adapter.send({ ...answer, target: { ...answer.target, replyTo: messageId } }, never);
    const shown = await eventually(() => visible()[0], 'the answer is shown');
    assert.equal(shown.replyTo, messageId);
  },

  'whoever waits for an answer in the same call gets the one to their own question': async ({ adapter, simulator, running, message, place }) => {
    if (simulator.ask === undefined) return notOffered('nobody can wait there');
    const texts = ['first question', 'second question'];
    const asked = texts.map((each) => simulator.ask?.({ ...place('dm'), text: each }));
    const events = await Promise.all(texts.map((each) => eventWith(running.inbox, each)));
    for (const event of events.toReversed()) await adapter.send(message(`about the ${event.text}`, { target: replyTarget(event) }), never);
    assert.deepEqual(await Promise.all(asked), ['about the first question', 'about the second question']);
  },

  'a message that comes back is reported, and starts nothing': async ({ adapter, simulator, running, say, message }) => {
    if (simulator.bounce === undefined) return notOffered('what it has taken does not come back');
    const { messageIds } = await adapter.send(message('to somebody who is not there'), never);
    simulator.bounce(messageIds[0] ?? '');
    const returned = await eventually(() => running.inbox.returnedMessages[0], 'it was reported');
    assert.equal(returned.messageId, messageIds[0]);
    assert.ok(returned.reason.length > 10, returned.reason);
    await say({ text: 'from a person' });
    await eventWith(running.inbox, 'from a person');
    assert.equal(running.inbox.offered.length, 1);
    return undefined;
  },

  'a person may answer one of our messages': async ({ adapter, running, say, message }) => {
    const { messageIds } = await adapter.send(message('ours'), never);
    await say({ text: 'about that', ...(messageIds[0] !== undefined && { replyTo: messageIds[0] }) });
    const { replyTo } = await eventWith(running.inbox, 'about that');
    assert.deepEqual([replyTo?.messageId, replyTo?.isOwn], [messageIds[0], true]);
  },
};
