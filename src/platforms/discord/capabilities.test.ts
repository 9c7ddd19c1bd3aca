import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { never } from '../conformance-bench.ts';
import { discordPeople, openAccount, toChat } from './discord.test-support.ts';

const discord = discordPeople();

describe('the menu and the directory', () => {
  it('publish commands as Discord allows them, and only when they have changed', async () => {
    const commands = [{ name: 'Reload-MCP', description: 'x'.repeat(150) }, { name: 'stop', description: '' }];
    for (let times = 0; times < 2; times += 1) await discord.account.adapter.menu?.publish(commands, never);
    assert.deepEqual((discord.simulator.commands() as { name: string; description: string }[]).map(({ name, description }) => [name, description.length]), [['reload_mcp', 100], ['stop', 4]]);
    assert.equal(discord.simulator.log.filter(({ method }) => method === 'PUT').length, 1);
    await discord.account.adapter.menu?.publish(commands.slice(1), never);
    assert.equal(discord.simulator.commands().length, 1);
    await discord.connect({ slash_commands: false });
    assert.equal(discord.account.adapter.menu, undefined);
  });

  it('list channels, forums and threads with the server they are in', async () => {
    const listed = (await discord.account.adapter.directory?.list(never)) ?? [];
    assert.deepEqual(listed.map(({ name, type, scopeName }) => [name, type, scopeName]), [['general', 'group', 'Workshop'], ['news', 'channel', 'Workshop'], ['ideas', 'channel', 'Workshop'], ['plans', 'thread', 'Workshop']]);
  });
});

describe('a reaction of ours', () => {
  it('is changed although Discord takes one at a time', async () => {
    const { messageId = '' } = await discord.say('look');
    discord.simulator.limits.exhausted.set(`PUT ${discord.simulator.ids.text}`, 0.05);
    const target = toChat(discord.simulator.ids.text);
    await discord.account.adapter.reactions?.set(target, messageId, '👀', never);
    assert.deepEqual(discord.simulator.reactionsOn(discord.simulator.ids.text, messageId), ['👀']);
    await discord.account.adapter.reactions?.set(target, messageId, '✅', never);
    assert.deepEqual(discord.simulator.reactionsOn(discord.simulator.ids.text, messageId), ['✅']);
    await discord.account.adapter.reactions?.set(target, messageId, null, never);
    assert.deepEqual(discord.simulator.reactionsOn(discord.simulator.ids.text, messageId), []);
  });

  it('that Discord does not know is refused, and none are set where the owner wants none', async () => {
    const { messageId = '' } = await discord.say('look');
    await assert.rejects(discord.account.adapter.reactions?.set(toChat(discord.simulator.ids.text), messageId, 'abc', never) ?? Promise.resolve(), (error) => error instanceof PlatformError && error.code === 'unsupported');
    await discord.connect({ reactions: false });
    assert.equal(discord.account.adapter.reactions, undefined);
  });
});

describe('files of people', () => {
  it('are fetched from Discord only, whatever an address says', async () => {
    const event = await discord.say('see', { media: { kind: 'document', bytes: Buffer.from('x'), name: 'a.txt', mime: 'text/plain' } });
    const [ref] = event.media;
    assert.ok(ref !== undefined);
    const { adapter } = await openAccount(discord.simulator, { base_url: discord.simulator.baseUrl.replace('127.0.0.1', 'localhost') }, discord.account.data);
    await assert.rejects(adapter.media?.open(ref, never) ?? Promise.resolve(), (error) => error instanceof PlatformError && error.code === 'rejected' && /host/.test(error.message));
  });
});
