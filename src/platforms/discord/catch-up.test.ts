import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testInbox } from '../../../test/support/test-inbox.ts';
import type { TestInbox } from '../../../test/support/test-inbox.ts';
import { until } from '../../../test/support/until.ts';
import { discordConnections, failedWith, heard, textsOf } from './discord.test-support.ts';
import type { Running } from './discord.test-support.ts';

const discord = discordConnections();
const { run, inDm, inChannel, inThread } = discord;

describe('when a session is over', () => {
  /** Somebody has spoken everywhere; then the connection is gone for good. */
  const lose = async (options: Readonly<Record<string, unknown>> = {}): Promise<TestInbox> => {
    const { inbox, stop } = await run(testInbox(), options);
    await discord.simulator.say(inDm('dm before'));
    await discord.simulator.say(inChannel('channel before'));
    await discord.simulator.say(inThread('thread before'));
    await heard(inbox, 'dm before', 'channel before', 'thread before');
    await stop();
    discord.simulator.gateway.invalidate = true;
    return inbox;
  };

  /** The connection that learns that the session is over, and the next. */
  const comeBack = async (inbox: TestInbox, options: Readonly<Record<string, unknown>> = {}): Promise<Running> => {
    await failedWith(await run(inbox, options), 'unavailable', /session/);
    return run(inbox, options);
  };

  it('a new one begins, and what was missed is fetched from every channel, in order and once', async () => {
    const inbox = await lose();
    for (const say of [inDm, inChannel, inThread]) for (const text of ['a', 'b']) discord.simulator.sayMeanwhile(say(`${text} in ${say.name}`));
    await comeBack(inbox);
    await heard(inbox, 'b in inDm', 'b in inChannel', 'b in inThread');
    await discord.simulator.say(inDm('now'));
    await heard(inbox, 'now');
    const missed = (place: string) => textsOf(inbox).filter((text) => text.endsWith(place));
    assert.deepEqual(['inDm', 'inChannel', 'inThread'].map(missed), [['a in inDm', 'b in inDm'], ['a in inChannel', 'b in inChannel'], ['a in inThread', 'b in inThread']]);
    assert.equal(inbox.events.length, 10);
    assert.deepEqual(inbox.events.filter(({ text }) => text.endsWith('inThread')).map(({ chat }) => [chat.type, chat.threadId, chat.parentId, chat.scopeId])[0], ['thread', discord.simulator.ids.thread, discord.simulator.ids.text, discord.simulator.ids.guild]);
  });

  it('changes of messages from before are found where somebody has spoken since, and in direct chats', async () => {
    const { inbox, stop } = await run();
    const [dm, first, second] = [await discord.simulator.say(inDm('dm')), await discord.simulator.say(inChannel('first')), await discord.simulator.say(inChannel('second'))];
    await heard(inbox, 'dm', 'first', 'second');
    await discord.simulator.edit(discord.simulator.ids.text, second, 'second, changed');
    await until(() => inbox.events.length === 4);
    await stop();
    discord.simulator.gateway.invalidate = true;
    discord.simulator.giveRoles(discord.simulator.ids.person, ['555']);
    discord.simulator.editMeanwhile(discord.simulator.ids.dm, dm, 'dm, changed');
    discord.simulator.editMeanwhile(discord.simulator.ids.text, first, `<@${discord.simulator.ids.bot}> first, changed`);
    discord.simulator.sayMeanwhile(inChannel('new'));
    await comeBack(inbox);
    await heard(inbox, 'dm, changed', 'first, changed', 'new');
    const found = inbox.events.slice(4).map(({ kind, messageId, text, sender }) => [kind, messageId, text, sender.roles?.[0]]);
    assert.deepEqual(found.filter(([, id]) => id === dm || id === first).toSorted(), [['edit', dm, 'dm, changed', undefined], ['edit', first, 'first, changed', '555']]);
    assert.equal(found.length, 3);
  });

  it('more than a page is fetched, and live messages wait for their turn', async () => {
    const inbox = await lose();
    const wanted = Array.from({ length: 230 }, (_, index) => `missed ${index}`);
    for (const text of wanted) discord.simulator.sayMeanwhile(inChannel(text));
    await comeBack(inbox);
    await discord.simulator.say(inChannel('live'));
    await heard(inbox, 'live');
    assert.deepEqual(textsOf(inbox).filter((text) => text.startsWith('missed') || text === 'live'), [...wanted, 'live']);
  });

  it('every direct chat is asked, a few at a time', async () => {
    const inbox = await lose();
    const chats = Array.from({ length: 30 }, (_, index) => `20000000000000000${String(index).padStart(2, '0')}`);
    for (const chatId of chats) await discord.data.set(`dm:${chatId}`, String(Date.now()));
    for (const chatId of chats) discord.simulator.sayMeanwhile({ ...inDm(`in ${chatId}`), chatId });
    discord.simulator.fail({ what: 'any', fault: { type: 'delay', ms: 10 }, count: 60 });
    await comeBack(inbox);
    await heard(inbox, ...chats.map((chatId) => `in ${chatId}`));
    assert.ok(discord.simulator.mostAtOnce() <= 6, `${discord.simulator.mostAtOnce()} calls at once`);
  });

  it('a gap that could not be closed is closed by the next connection', async () => {
    const inbox = await lose();
    for (const text of ['one', 'two', 'three']) discord.simulator.sayMeanwhile(inChannel(text));
    inbox.before = ({ text }) => (text === 'two' ? Promise.reject(new Error('full')) : Promise.resolve());
    const broken = await comeBack(inbox);
    assert.match(String(await broken.ended), /full/);
    discord.simulator.gateway.invalidate = false;
    inbox.before = async () => undefined;
    await run(inbox);
    await heard(inbox, 'three');
    assert.deepEqual(textsOf(inbox).slice(-3), ['one', 'two', 'three']);
  });

  it('a limit on the way is waited out', async () => {
    const inbox = await lose();
    discord.simulator.sayMeanwhile(inChannel('missed'));
    discord.simulator.limits.channels.set(discord.simulator.ids.text, 0.05);
    const back = comeBack(inbox);
    await until(() => discord.simulator.log.some(({ status, path }) => status === 429 && path.includes('/messages')));
    discord.simulator.limits.channels.clear();
    await back;
    await heard(inbox, 'missed');
  });

  it('nothing older than the owner wants is fetched', async () => {
    const inbox = await lose();
    discord.simulator.sayMeanwhile(inChannel('missed'));
    const running = await comeBack(inbox, { catch_up_hours: 0 });
    await discord.simulator.say(inChannel('now'));
    await heard(running.inbox, 'now');
    assert.ok(!textsOf(inbox).includes('missed'));
  });

  it('people keep the roles they have there', async () => {
    discord.simulator.giveRoles(discord.simulator.ids.person, ['555']);
    const inbox = await lose();
    discord.simulator.sayMeanwhile(inChannel('missed'));
    await comeBack(inbox);
    await heard(inbox, 'missed');
    const rolesOf = (text: string) => inbox.events.find((event) => event.text === text)?.sender.roles;
    assert.deepEqual([rolesOf('channel before'), rolesOf('missed'), rolesOf('dm before')], [['555'], ['555'], undefined]);
  });

  it('the first start of an account fetches nothing', async () => {
    discord.simulator.sayMeanwhile(inChannel('long ago'));
    const { inbox } = await run();
    await discord.simulator.say(inChannel('now'));
    await heard(inbox, 'now');
    assert.deepEqual(textsOf(inbox), ['now']);
  });
});
