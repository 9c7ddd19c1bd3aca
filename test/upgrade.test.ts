import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';

describe('a start with a configuration that is broken or old', { concurrency: true }, () => {
  test('a gateway that ran before starts with the last configuration that could be used, says so everywhere, and takes over the mended file', async () => {
    await using world = await newWorld();
    await using first = await startOutside(world);
    await world.say('hello');
    await until(() => world.shown().length === 1, 'an answer');
    assert.equal(await first.stop(), 0);
    await world.configure({ modle: 'typo' });
    await using outside = await startOutside(world);
    await until(() => outside.output().includes('config.started_with_last_good'), 'the loud line');
    await world.say('still there?');
    await until(() => world.shown().length === 2, 'an answer');
    assert.equal(world.shown()[1], 're: still there?');
    const status = await hermes(world, ['status']);
    assert.match(status.out, /Config {3}cannot be used: a gateway runs with the last one that could be, kept 20/);
    assert.match((await hermes(world, ['doctor', '--offline'])).out, /a gateway runs with the last one that could be/);
    await world.configure({ display: { busy_ack_enabled: false } });
    await until(() => outside.output().includes('config.reloaded'), 'the mended file to be taken over');
    assert.doesNotMatch((await hermes(world, ['status'])).out, /cannot be used/);
  });

  test('without an earlier one it does not start, and leaves with 78', async () => {
    await using world = await newWorld();
    await writeFile(join(world.home, 'config.yaml'), 'modle: typo\n');
    const ran = await hermes(world, ['gateway', 'run']);
    assert.equal(ran.code, 78);
    assert.match(ran.err, /modle {2}unknown key; did you mean model\?/);
  });

  test('keys that have moved are rewritten at the start, the difference is logged and the old file is kept', async () => {
    await using world = await newWorld();
    await world.configure({ timezone: 'Europe/Berlin' });
    const old = await readFile(join(world.home, 'config.yaml'), 'utf8');
    await using outside = await startOutside(world);
    await until(() => outside.output().includes('config.migrated'), 'the line about it');
    assert.match(outside.output(), /timezone -> cron\.timezone/);
    assert.match(await readFile(join(world.home, 'config.yaml'), 'utf8'), /"?cron"?:\s*\{?\s*"?timezone"?: "?Europe\/Berlin/);
    const kept = (await readdir(join(world.home, 'backups'))).find((name) => name.startsWith('config-'));
    assert.equal(await readFile(join(world.home, 'backups', kept ?? ''), 'utf8'), old);
  });
});
