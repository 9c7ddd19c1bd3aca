import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { message } from '../../../test/support/test-account.ts';
import { until } from '../../../test/support/until.ts';
import { PlatformError } from '../../core/errors.ts';
import type { InboundEvent } from '../../core/message.ts';
import { replyTarget } from '../../core/message.ts';
import { never } from '../conformance-bench.ts';
import { discordPeople, openAccount, toChat } from './discord.test-support.ts';

const discord = discordPeople();

describe('a command from the menu', () => {
  const choose = async (name = 'status', words?: string): Promise<InboundEvent> => {
    const id = await discord.simulator.command({ chatId: discord.simulator.ids.text, senderId: discord.simulator.ids.person, name, ...(words !== undefined && { words }) });
    return discord.arrived(({ nativeId }) => nativeId === id);
  };

  it('arrives as it would have been typed, and its answer takes the place that Discord keeps for it', async () => {
    const event = await choose('model', 'gpt now');
    assert.deepEqual([event.kind, event.text, event.addressed, event.awaitsAnswer, event.chat.id], ['message', '/model gpt now', true, true, discord.simulator.ids.text]);
    await discord.account.adapter.send(message(replyTarget(event), 'Done.', { choices: [[{ label: 'Undo', data: 'u' }]] }), never);
    await discord.account.adapter.send(message(replyTarget(event), 'And more.'), never);
    assert.equal(discord.simulator.answerTo(event.nativeId).kind, 5);
    assert.deepEqual(discord.simulator.visible(discord.simulator.ids.text).map(({ text, edited, choices }) => [text, edited, choices.length]), [['Done.', 1, 1], ['And more.', 0, 0]]);
    const [first] = discord.simulator.visible(discord.simulator.ids.text);
    await discord.account.adapter.edits?.edit(first?.id ?? '', message(replyTarget(event), 'Done!'), true, never);
    assert.equal(discord.simulator.visible(discord.simulator.ids.text)[0]?.text, 'Done!');
  });

  it('is answered in its place also when the answer is there before Discord knows that the command has come', async () => {
    const sending = Promise.withResolvers<unknown>();
    discord.inbox.before = async (event) => sending.resolve(discord.account.adapter.send(message(replyTarget(event), 'Quickly.'), never));
    await choose();
    await sending.promise;
    assert.deepEqual(discord.simulator.visible(discord.simulator.ids.text).map(({ text, edited }) => [text, edited]), [['Quickly.', 1]]);
  });

  it('is answered in its place also after a restart, and once however often', async () => {
    const event = await choose();
    await until(() => discord.simulator.answerTo(event.nativeId).kind === 5);
    const { adapter } = await openAccount(discord.simulator, {}, discord.account.data);
    discord.simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
    const answer = message(replyTarget(event), 'Fine.');
    await assert.rejects(adapter.send(answer, never), PlatformError);
    await adapter.send(answer, never);
    assert.deepEqual(discord.simulator.visible(discord.simulator.ids.text).map(({ text }) => text), ['Fine.']);
  });

  it('is answered by an ordinary message when its place is gone', async () => {
    const event = await choose();
    await until(() => discord.simulator.answerTo(event.nativeId).kind === 5);
    discord.simulator.fail({ what: 'send', fault: { type: 'status', status: 404 } });
    await discord.account.adapter.send(message(replyTarget(event), 'Late.'), never);
    assert.deepEqual(discord.simulator.visible(discord.simulator.ids.text).map(({ text, edited }) => [text, edited]), [['Late.', 0]]);
  });

  it('is confirmed only when it is stored', async () => {
    const gate = Promise.withResolvers<void>();
    discord.inbox.before = () => gate.promise;
    const fromMs = performance.now();
    const id = await discord.simulator.command({ chatId: discord.simulator.ids.text, senderId: discord.simulator.ids.person, name: 'status' });
    await until(() => discord.inbox.offered.length === 1);
    // Whoever has to wait for a second and a half is told to, stored or not.
    assert.ok(discord.simulator.answerTo(id).kind === undefined || performance.now() - fromMs >= 1500);
    gate.resolve();
    await until(() => discord.simulator.answerTo(id).kind === 5);
  });

  it('of somebody who may not is answered to them alone', async () => {
    discord.inbox.verdict = 'skipped';
    const event = await choose();
    await until(() => discord.simulator.answerTo(event.nativeId).kind === 4);
    assert.deepEqual(discord.simulator.visible(discord.simulator.ids.text), []);
  });

  it('that takes long is told to wait before Discord gives it up, and that is taken back from somebody who may not', async () => {
    for (const verdict of ['stored', 'skipped'] as const) {
      const gate = Promise.withResolvers<void>();
      discord.inbox.before = () => gate.promise;
      discord.inbox.verdict = verdict;
      const id = await discord.simulator.command({ chatId: discord.simulator.ids.text, senderId: discord.simulator.ids.person, name: 'status' });
      await until(() => discord.simulator.answerTo(id).kind === 5, 'it is told to wait');
      gate.resolve();
      const event = await discord.arrived(({ nativeId }) => nativeId === id);
      await until(() => discord.inbox.events.includes(event));
      if (verdict === 'stored') await discord.account.adapter.send(message(replyTarget(event), 'At last.'), never);
      else await until(() => discord.simulator.log.some(({ method, path }) => method === 'DELETE' && path.endsWith('@original')));
      assert.deepEqual(discord.simulator.visible(discord.simulator.ids.text).map(({ text }) => text), ['At last.']);
      assert.deepEqual(await discord.account.data.list('interaction:'), []);
    }
  });

  it('that comes again after its answer is left alone', async () => {
    const event = await choose();
    await discord.account.adapter.send(message(replyTarget(event), 'Done.'), never);
    await discord.simulator.redeliver(event.nativeId);
    await until(() => discord.inbox.offered.length === 2);
    await until(() => discord.inbox.aliveCount() > 0);
    await discord.say('next', { mention: true });
    assert.deepEqual(await discord.account.data.list('interaction:'), []);
  });

  it('bears no reaction', async () => {
    const event = await choose();
    await discord.account.adapter.reactions?.set(replyTarget(event), event.messageId ?? '', '👀', never);
  });
});

describe('a press', () => {
  const press = async (): Promise<InboundEvent> => {
    const { messageIds } = await discord.account.adapter.send(message(toChat(discord.simulator.ids.text), 'ok?', { choices: [[{ label: 'Yes', data: 'y:1' }]] }), never);
    const id = await discord.simulator.press(discord.simulator.ids.text, messageIds[0] ?? '', 'y:1', discord.simulator.ids.person);
    return discord.arrived(({ nativeId }) => nativeId === id);
  };

  it('is answered silently, or with words for whoever pressed', async () => {
    const [first, second] = [await press(), await press()];
    await discord.account.adapter.choices?.answer(first, undefined, never);
    await discord.account.adapter.choices?.answer(second, 'Noted.', never);
    assert.deepEqual([discord.simulator.answerTo(first.nativeId), discord.simulator.answerTo(second.nativeId)], [{ kind: 6, text: undefined }, { kind: 4, text: 'Noted.' }]);
    await assert.rejects(discord.account.adapter.choices?.answer(first, undefined, never) ?? Promise.resolve(), (error) => error instanceof PlatformError && error.code === 'not_found');
  });

  it('of somebody who may not has no effect, and no error either', async () => {
    discord.inbox.verdict = 'skipped';
    const event = await press();
    await until(() => discord.simulator.answerTo(event.nativeId).kind === 6);
  });
});
