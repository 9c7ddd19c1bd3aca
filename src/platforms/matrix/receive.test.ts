import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { aMoment, eventually, eventWith, failure, never, newInbox, within } from '../conformance-bench.ts';
import type { Running } from '../conformance-bench.ts';
import { alice, direct, following, group, message, openAccount, runAccount, textsOf } from './matrix.test-support.ts';
import type { MatrixAccount } from './matrix.test-support.ts';
import { startMatrixSimulator } from './simulator.ts';
import type { MatrixSimulator } from './simulator.ts';
import { membershipOf } from './simulator/world.ts';

let simulator: MatrixSimulator;
let account: MatrixAccount;
let running: Running | undefined;

beforeEach(async () => {
  simulator = await startMatrixSimulator();
  account = await openAccount(simulator);
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  account[Symbol.dispose]();
  await simulator[Symbol.asyncDispose]();
});

const run = async (inbox = newInbox()): Promise<Running> => {
  running = await runAccount(account.adapter, inbox);
  return running;
};

const reopen = async (options: Readonly<Record<string, unknown>>): Promise<void> => {
  account = await openAccount(simulator, { data: account.data, options });
};

const inDirect = { chatId: direct.chatId, chatType: 'dm', senderId: alice } as const;
const inGroup = { chatId: group.chatId, chatType: 'group', senderId: alice } as const;

const endOf = async ({ ended }: Running): Promise<PlatformError> => {
  const error = await within(60_000, ended, 'noticing');
  return error instanceof PlatformError ? error : assert.fail(`it ended with ${String(error)}`);
};

describe('following the stream', () => {
  it('finds out a homeserver that answers and delivers nothing', async () => {
    simulator.deaf(true);
    const error = await endOf(await run());
    assert.deepEqual([error.code, /deliver/.test(error.message)], ['unavailable', true]);
  });

  it('leaves a connection on which nothing comes back', async () => {
    await reopen({ sync_timeout_seconds: 1, request_timeout_seconds: 5 });
    const first = await run();
    await following(simulator);
    simulator.fail({ what: 'receive', fault: { type: 'hang' } });
    assert.equal((await endOf(first)).code, 'unavailable');
  });

  it('reads up what did not fit into one answer, in order and once, also after a restart', async () => {
    const first = await run();
    await simulator.say({ ...inDirect, text: 'before' });
    await eventWith(first.inbox, 'before');
    await following(simulator);
    await first.stop();
    const texts = Array.from({ length: 230 }, (_, i) => `while away ${i}`);
    for (const text of texts) await simulator.say({ ...inDirect, text });
    await reopen({});
    const second = await run(first.inbox);
    await eventWith(second.inbox, 'while away 229');
    assert.deepEqual(textsOf(second.inbox), ['before', ...texts]);
    assert.equal(second.inbox.offered.length, texts.length + 1);
  });

  it('does not pass a message that could not be stored, and loses nothing of other rooms', async () => {
    const first = await run();
    await following(simulator);
    first.inbox.before = async (event) => {
      if (event.text === 'bad') throw new Error('the disk is full');
    };
    await Promise.all([simulator.say({ ...inDirect, text: 'bad' }), simulator.say({ ...inGroup, text: 'good', mention: true })]);
    await first.ended;
    first.inbox.before = async () => undefined;
    const second = await run(first.inbox);
    await eventWith(second.inbox, 'bad');
    await eventWith(second.inbox, 'good');
    assert.deepEqual(textsOf(second.inbox).toSorted(), ['bad', 'good']);
  });

  it('sends while receiving has trouble, and goes on where it was', async () => {
    const first = await run();
    await following(simulator);
    simulator.fail({ what: 'receive', fault: { type: 'refuse' } });
    await endOf(first);
    await simulator.say({ ...inDirect, text: 'missed?' });
    await account.adapter.send(message('still talking'), never);
    const second = await run(first.inbox);
    await eventWith(second.inbox, 'missed?');
    assert.deepEqual(simulator.visible(direct.chatId).map(({ text }) => text), ['still talking']);
  });

  it('does not answer what was said before it was ever there', async () => {
    simulator.put(direct.chatId, alice, 'm.room.message', { msgtype: 'm.text', body: 'old' });
    const room = simulator.world.rooms.get(direct.chatId) ?? assert.fail();
    const stored = room.timeline.pop() ?? assert.fail();
    room.timeline.push({ ...stored, event: { ...stored.event, origin_server_ts: Date.now() - 60_000 } });
    const { inbox } = await run();
    await following(simulator);
    await simulator.say({ ...inDirect, text: 'new' });
    await eventWith(inbox, 'new');
    assert.deepEqual(textsOf(inbox), ['new']);
  });

  it('hears edits, reactions and their end, and what stands in a thread', async () => {
    const { inbox } = await run();
    await following(simulator);
    const said = await simulator.say({ ...inDirect, text: 'tpyo' });
    simulator.put(direct.chatId, alice, 'm.room.message', { msgtype: 'm.text', body: '* typo', 'm.new_content': { msgtype: 'm.text', body: 'typo' }, 'm.relates_to': { rel_type: 'm.replace', event_id: said } });
    const reaction = simulator.put(direct.chatId, alice, 'm.reaction', { 'm.relates_to': { rel_type: 'm.annotation', event_id: said, key: '👍' } });
    simulator.put(direct.chatId, alice, 'm.room.redaction', { redacts: reaction });
    await simulator.say({ ...inDirect, text: 'below', threadId: said });
    await eventWith(inbox, 'below');
    assert.deepEqual(
      inbox.events.map(({ kind, text, messageId, reaction: mark, chat }) => [kind, text, messageId === said, mark, chat.threadId === said]),
      [
        ['message', 'tpyo', true, undefined, false],
        ['edit', 'typo', true, undefined, false],
        ['reaction', '', true, { emoji: '👍', added: true }, false],
        ['reaction', '', true, { emoji: '👍', added: false }, false],
        ['message', 'below', false, undefined, true],
      ],
    );
  });

  it('answers in rooms in a thread, in which it then needs no mention', async () => {
    const { inbox } = await run();
    await following(simulator);
    const asked = await simulator.say({ ...inGroup, text: 'what now?', mention: true });
    const event = await eventWith(inbox, 'what now?');
    assert.deepEqual([event.addressed, event.chat.threadId], [true, asked]);
    await simulator.say({ ...inGroup, text: 'a side remark', threadId: asked });
    assert.equal((await eventWith(inbox, 'a side remark')).addressed, false);
    await account.adapter.send(message('this', { target: { ...group, threadId: asked } }), never);
    await simulator.say({ ...inGroup, text: 'and then?', threadId: asked });
    assert.equal((await eventWith(inbox, 'and then?')).addressed, true);
  });

  it('shows people how far it has read', async () => {
    const { inbox } = await run();
    await following(simulator);
    const said = await simulator.say({ ...inDirect, text: 'read me' });
    await eventWith(inbox, 'read me');
    await eventually(() => simulator.log.find(({ path }) => path.endsWith(`/receipt/m.read/${said}`)), 'the receipt is sent');
  });
});

describe('an invitation', () => {
  const isIn = (roomId: string): boolean => membershipOf(simulator.world.rooms.get(roomId) ?? assert.fail(), simulator.bot.id) === 'join';

  it('of somebody who may speak is followed, and what they wrote meanwhile is heard', async () => {
    const { inbox } = await run();
    await following(simulator);
    const room = simulator.invite({ inviter: '@bob:sim.test', isDirect: true });
    simulator.put(room.id, '@bob:sim.test', 'm.room.message', { msgtype: 'm.text', body: 'are you there?' });
    const event = await eventWith(inbox, 'are you there?');
    assert.deepEqual([isIn(room.id), event.chat.type], [true, 'dm']);
    assert.deepEqual(inbox.events.map(({ kind, sender }) => [kind, sender.id]), [['join', '@bob:sim.test'], ['message', '@bob:sim.test']]);
    assert.deepEqual(simulator.world.users.get(simulator.bot.id)?.accountData.get('m.direct')?.content, { '@bob:sim.test': [room.id] });
  });

  for (const [what, options, invitation, followed] of [
    ['of somebody who may not', {}, { isDirect: true }, false],
    ['of a stranger into a direct chat, where strangers may ask', { auto_join: 'direct' }, { isDirect: true }, true],
    ['of a stranger into a room, where strangers may ask', { auto_join: 'direct' }, { isDirect: false }, false],
    ['of anybody, if all are followed', { auto_join: 'all' }, { isDirect: false }, true],
    ['of anybody, if none is', { auto_join: 'none' }, { isDirect: true }, false],
    ['into a space', { auto_join: 'all' }, { isSpace: true }, false],
  ] as const) {
    it(`${what} is ${followed ? 'followed' : 'left alone'}`, async () => {
      await reopen(options);
      const inbox = { ...newInbox(), accept: async (event: { readonly kind: string }) => (event.kind === 'join' ? ('denied' as const) : ('stored' as const)) };
      await run(inbox);
      await following(simulator);
      const room = simulator.invite({ inviter: '@mallory:sim.test', ...invitation });
      if (followed) await eventually(() => isIn(room.id), 'it is followed');
      else await eventually(() => account.lines.some((line) => line.includes('matrix.invite.left_alone')), 'it is left alone');
      await aMoment();
      assert.equal(isIn(room.id), followed);
    });
  }
});

describe('a session with a password', () => {
  const withPassword = (): Readonly<Record<string, unknown>> => ({ access_token: undefined, user_id: simulator.bot.id, password: simulator.bot.password });

  for (const [what, soft] of [['keeps its device when the homeserver wants to see the password again', true], ['takes a new device when its own was removed', false]] as const) {
    it(what, async () => {
      await reopen(withPassword());
      const first = await run();
      await following(simulator);
      const devices = (): readonly string[] => [...(simulator.world.users.get(simulator.bot.id)?.devices.keys() ?? [])].filter((id) => id !== 'HERMES');
      assert.equal(devices().length, 1);
      simulator.logOut(soft);
      await simulator.say({ ...inDirect, text: 'meanwhile' });
      assert.equal((await endOf(first)).code, 'unavailable');
      const second = await run(first.inbox);
      await eventWith(second.inbox, 'meanwhile');
      assert.equal(devices().length, soft ? 1 : 2);
    });
  }

  it('ends for good with a token that is gone', async () => {
    const first = await run();
    await following(simulator);
    simulator.logOut(false);
    await simulator.say({ ...inDirect, text: 'meanwhile' });
    assert.equal((await endOf(first)).code, 'bad_credential');
  });
});

describe('sending', () => {
  it('meets a limit of the whole account, and says for how long', async () => {
    simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 1500 } });
    const { facts } = await failure(account.adapter.send(message('slowly'), never), 'rate_limited');
    assert.deepEqual([facts.scope, facts.retryAfterMs], ['account', 1500]);
  });

  it('is forbidden where the account is not', async () => {
    await failure(account.adapter.send(message('hello', { target: { ...direct, chatId: '!elsewhere:sim.test' } }), never), 'forbidden');
  });

  it('names people so that they are notified, and nobody else', async () => {
    await account.adapter.send(message('ask @carol:sim.test, not @room'), never);
    const sent = simulator.log.findLast(({ path }) => path.includes('/send/m.room.message/'))?.body;
    assert.deepEqual(sent?.['m.mentions'], { user_ids: ['@carol:sim.test'] });
    assert.match(String(sent?.['formatted_body']), /<a href="https:\/\/matrix\.to\/#\/@carol:sim\.test">@carol:sim\.test<\/a>, not @room/);
  });

  it('ends the sign that somebody is typing', async () => {
    await account.adapter.typing?.show(direct, never);
    await account.adapter.send(message('done'), never);
    const signs = simulator.log.filter(({ path }) => path.includes('/typing/')).map(({ body }) => body['typing']);
    assert.deepEqual(signs, [true, false]);
  });
});
