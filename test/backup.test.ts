import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { outboxRows, peek } from './support/scenes.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const sessionsOf = async (world: World): Promise<readonly { readonly id: string; readonly messageCount: number }[]> => JSON.parse((await hermes(world, ['sessions', 'list', '--json'])).out) as { id: string; messageCount: number }[];

describe('a gateway at work', { concurrency: true }, () => {
  test('is backed up while people write, goes on, and comes back elsewhere with the same conversation', async () => {
    await using world = await newWorld();
    await using outside = await startOutside(world);
    await world.say('first');
    await until(() => world.shown().length === 1, 'an answer');
    const archive = join(world.home, 'b.tar.gz');
    const backing = hermes(world, ['backup', archive]);
    for (let i = 0; i < 10; i += 1) await world.say(`meanwhile ${i}`);
    const backed = await backing;
    assert.equal(backed.code, 0, backed.err);
    await until(() => world.shown().some((text) => text.includes('meanwhile 9')), 'the last answer');
    const refused = await hermes(world, ['restore', archive, '--yes']);
    assert.equal(refused.code, 78);
    assert.match(refused.err, /A gateway is running in/);
    assert.equal(await outside.stop(), 0);
    const [original] = await sessionsOf(world);

    const home = join(world.home, 'elsewhere');
    const restored = await hermes(world, ['restore', archive, '--into', home, '--drop-open']);
    assert.equal(restored.code, 0, restored.err);
    const moved: World = { ...world, home, env: { ...world.env, HERMES_HOME: home } };
    await using again = await startOutside(moved);
    const before = world.shown().length;
    await world.say('after the move');
    await until(() => world.shown().includes('re: after the move'), 'an answer by the restored gateway');
    assert.equal(world.shown().length, before + 1);
    assert.deepEqual((await sessionsOf(moved)).map(({ id }) => id), [original?.id]);
    assert.equal(await again.stop(), 0);
  });

  test('forgets a person while it runs, and meets them as a stranger to their past', async () => {
    await using world = await newWorld();
    await using _outside = await startOutside(world);
    await world.say('my secret is planted');
    await until(() => peek(world, async (store) => (await outboxRows(store)).some(({ state }) => state === 'sent')), 'an answer');
    const [old] = await sessionsOf(world);
    const told = await hermes(world, ['erase', '--person', 'telegram:7', '--yes', '--json']);
    assert.equal(told.code, 0, told.err);
    assert.equal((JSON.parse(told.out) as { readonly rows: Readonly<Record<string, number>> }).rows['conversations'], 1);
    assert.deepEqual(await sessionsOf(world), []);
    await world.say('hello again');
    await until(() => world.shown().length === 2, 'an answer');
    const [fresh] = await sessionsOf(world);
    assert.notEqual(fresh?.id, old?.id);
    assert.doesNotMatch(JSON.stringify(world.model.requests.at(-1)?.body), /planted/);
  });
});
