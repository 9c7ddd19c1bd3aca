import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { schemaVersion } from '../src/store/migrations.ts';
import { writeOldDatabase } from './support/old-database.ts';
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
    await until(async () => !/cannot be used/.test((await hermes(world, ['status'])).out), 'everybody to know of it');
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

describe('a start with a database of another version', { concurrency: true }, () => {
  test('an older one is copied and brought up to date, with words about it, and the copy can be restored', async () => {
    await using world = await newWorld();
    writeOldDatabase(join(world.home, 'gateway.db'), schemaVersion - 1);
    assert.match((await hermes(world, ['doctor', '--offline'])).out, new RegExp(`older version \\(schema ${schemaVersion - 1}, this one knows ${schemaVersion}\\)\\n.*copies it into backups`));
    await using outside = await startOutside(world);
    const said = outside.output().split('\n');
    assert.deepEqual(['store.copying_before_upgrade', 'store.backed_up_before_upgrade', 'store.upgrading', 'gateway.started'].map((event) => said.findIndex((line) => line.includes(`"${event}"`))).map((at, i, all) => at >= 0 && (i === 0 || at > (all[i - 1] ?? at))), [true, true, true, true]);
    await world.say('hello');
    await until(() => world.shown().length === 1, 'an answer');
    assert.equal(await outside.stop(), 0);
    const copy = (await readdir(join(world.home, 'backups'))).find((name) => name.startsWith('gateway-schema-'));
    const restored = await hermes(world, ['restore', join(world.home, 'backups', copy ?? ''), '--yes']);
    assert.equal(restored.code, 0, restored.err);
    assert.match((await hermes(world, ['pairing', 'list'])).out, /Ann/);
    assert.doesNotMatch((await hermes(world, ['sessions', 'list'])).out, /telegram/);
  });

  test('a newer one is refused by every command that would open it, with 78 and a sentence that names the way back', async () => {
    await using world = await newWorld();
    const path = join(world.home, 'gateway.db');
    writeOldDatabase(path, schemaVersion);
    const db = new DatabaseSync(path);
    db.prepare("update meta set value = ? where key = 'schema_version'").run(String(schemaVersion + 1));
    db.close();
    for (const args of [['gateway', 'run'], ['status']]) {
      const ran = await hermes(world, args);
      assert.equal(ran.code, 78);
      assert.match(ran.err, /written by a newer version of hermes .* hermes restore also takes the copies in the backups folder/);
    }
    assert.match((await hermes(world, ['doctor', '--offline'])).out, /newer version[^]*go back with hermes restore/);
  });
});
