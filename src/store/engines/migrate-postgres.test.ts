import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { writeOldPostgres } from '../../../test/support/old-database.ts';
import { noPostgresReason } from '../../../test/support/postgres.ts';
import type { TestDatabase } from '../../../test/support/postgres.ts';
import { emptyPostgres } from '../../../test/support/stores.ts';
import { StoreError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { copyFromPostgres } from '../copies/transfer.ts';
import { schemaVersion } from '../migrations.ts';
import { openStore } from '../open.ts';
import type { OpenOptions } from '../open.ts';

const old = schemaVersion - 1;
/** Looking again happens at once; whether time is up is the database's own clock. */
const hurried: Clock = { now: () => Date.now(), sleep: (_ms, signal) => systemClock.sleep(1, signal) };

describe('a PostgreSQL database of an earlier version', noPostgresReason === undefined ? {} : { skip: noPostgresReason }, () => {
  let home = '';
  let database: TestDatabase;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-upgrade-pg-'));
    database = await emptyPostgres();
    await writeOldPostgres(database.url, old);
  });
  afterEach(async () => {
    await rm(home, { recursive: true });
    await database.drop();
  });

  const run = async <Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const version = async (): Promise<number> => Number((await run<{ value: string }>("select value from meta where key = 'schema_version'"))[0]?.value);
  const { log, lines } = capturingLogger();
  const upgrade = async (more: Partial<OpenOptions> = {}): Promise<void> => {
    const store = await openStore({ databaseUrl: database.url, path: join(home, 'gateway.db'), clock: hurried, log, checkIntegrity: true, ...more });
    await store.close();
  };
  const backups = (): string => join(home, 'backups');
  const copies = async (): Promise<string[]> => (existsSync(backups()) ? (await readdir(backups())).toSorted() : []);
  const refusal = (sentence: RegExp, code: StoreError['code']) => (error: unknown) => error instanceof StoreError && error.code === code && sentence.test(error.message);
  const addGateway = (host: string, silentMs: number): Promise<unknown> =>
    run(`insert into nodes values ('${host}', 'gateway', 41, '${host}', 0, (extract(epoch from statement_timestamp()) * 1000)::bigint - ${silentMs})`);

  test('is copied whole before it is brought up to date, and one of this version is not', async () => {
    await run(`insert into account_values select 'telegram', 'k' || n, repeat('v', 50) from generate_series(1, 1234) n`);
    await run('create table not_ours (id int); insert into not_ours values (1)');
    await upgrade();
    assert.equal(await version(), schemaVersion);
    const [copy, ...others] = await copies();
    assert.deepEqual(others, []);
    assert.match(copy ?? '', new RegExp(`^gateway-schema-${old}-\\d{8}T\\d{9}Z\\.db$`));
    assert.equal((await stat(join(backups(), copy ?? ''))).mode & 0o777, 0o600);
    const kept = new DatabaseSync(join(backups(), copy ?? ''), { readOnly: true });
    assert.equal(kept.prepare("select value from meta where key = 'schema_version'").get()?.['value'], String(old));
    assert.equal(kept.prepare('select user_name from pairings').get()?.['user_name'], 'Ann');
    assert.equal(kept.prepare("select count(*) as n from account_values where key like 'k%'").get()?.['n'], 1234);
    kept.close();
    await upgrade();
    assert.equal((await copies()).length, 1);
    assert.ok(lines.some((line) => line.includes('store.copying_before_upgrade')));
  });

  test('is copied and changed once, whoever else starts at the same moment', async () => {
    lines.length = 0;
    await Promise.all([upgrade(), upgrade(), upgrade()]);
    assert.equal((await copies()).length, 1);
    assert.equal(lines.filter((line) => line.includes('store.upgrading')).length, 1);
  });

  test('is not touched while gateways of that version work on it, and the refusal names them', async () => {
    await addGateway('web-1', 0);
    await addGateway('web-2', 30_000);
    await addGateway('long-dead', 3_600_000);
    await assert.rejects(upgrade(), refusal(/still work on it: web-1 \(process 41\), web-2 \(process 41\)\. Stop them with `hermes gateway stop`/, 'busy'));
    assert.equal(await version(), old);
    assert.deepEqual(await copies(), []);
  });

  test('waits, for as long as it may, until the last of them has ended', async () => {
    await addGateway('web-1', 0);
    const waits: unknown[] = [];
    await upgrade({
      olderMs: 60_000,
      onUpgrade: (progress) => {
        if (progress.step !== 'waiting') return;
        waits.push(progress.older);
        void run('delete from nodes');
      },
    });
    assert.deepEqual(waits, ['web-1 (process 41)']);
    assert.equal(await version(), schemaVersion);
  });

  test('is not upgraded without a copy, unless none is wanted', async () => {
    await writeFile(backups(), 'a file where the folder should be');
    await assert.rejects(upgrade(), refusal(/has to be upgraded .* start again\. If you have a backup of your own, set store\.copy_before_upgrade to false/, 'failed'));
    assert.equal(await version(), old);
    await upgrade({ copyBeforeUpgrade: false });
    assert.equal(await version(), schemaVersion);
  });

  test('is left as it was by whoever is interrupted while it is copied, and so is the folder', async () => {
    await mkdir(join(backups(), '.partial-upgrade'), { recursive: true });
    await writeFile(join(backups(), '.partial-upgrade', 'gateway.db'), 'left by one that was killed');
    const interrupted = (): Promise<void> => {
      const stop = new AbortController();
      return upgrade({ signal: stop.signal, onUpgrade: () => stop.abort(new Error('told to end')) });
    };
    await assert.rejects(interrupted(), /told to end/);
    await run('delete from pairings');
    await assert.rejects(interrupted(), /told to end/, 'also when there is nothing to copy');
    assert.equal(await version(), old);
    assert.deepEqual(await copies(), []);
    await upgrade();
    assert.equal((await copies()).length, 1);
  });

  test('is copied as it is at one moment, whatever is written meanwhile', async () => {
    await run(`insert into account_values values ('telegram', 'k', 'v')`);
    const write = `import pg from 'pg'; const c = new pg.Client({ connectionString: process.argv[1] }); await c.connect(); await c.query("insert into pairings values ('telegram', '8', 'Ben', 'cli', 1)"); await c.end();`;
    let written: number | null | undefined;
    const path = join(home, 'copy.db');
    await copyFromPostgres(database.url, path, {
      // Nothing else can happen in this process until it has been written.
      onProgress: () => (written ??= spawnSync(process.execPath, ['--input-type=module', '-e', write, database.url], { cwd: import.meta.dirname }).status),
    });
    assert.equal(written, 0);
    assert.equal((await run('select 1 from pairings')).length, 2);
    const copy = new DatabaseSync(path, { readOnly: true });
    assert.deepEqual(copy.prepare('select user_name from pairings').all().map((row) => row['user_name']), ['Ann']);
    copy.close();
  });
});
