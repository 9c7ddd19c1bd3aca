import { sql } from 'kysely';
import type { Kysely, RawBuilder, Transaction } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { keepUpgradeCopy, newUpgradeTeller } from '../copies/upgrade-copy.ts';
import type { UpgradeOptions, UpgradeProgress } from '../copies/upgrade-copy.ts';
import { newerSchema, pendingMigrations, schemaVersion } from '../migrations.ts';
import { livingGateways } from '../nodes.ts';
import type { LivingGateway } from '../nodes.ts';
import type { Tables } from '../schema.ts';

/** Any constant: it keeps two processes from migrating at once. */
const migrationLock = 718_245_901;
const lockPauseMs = 50;
const lookEveryMs = 1000;
/** A gateway gives a sign of life every thirty seconds; one that has missed two and more is gone. */
const silentMs = 90_000;

export interface PostgresUpgradeOptions extends UpgradeOptions {
  readonly url: string;
  /** Where the copy is kept that is made before an upgrade. */
  readonly backups: string;
  /** How long gateways of an earlier version may take to end before the upgrade is refused; not at all unless said. */
  readonly olderMs?: number | undefined;
}

interface Upgrade {
  readonly trx: Transaction<Tables>;
  readonly now: RawBuilder<number>;
  readonly options: PostgresUpgradeOptions;
  tell(progress: UpgradeProgress): void;
}

/** A copy may take hours, and nothing else happens on this connection meanwhile. */
const liftTimeLimits = async (trx: Transaction<Tables>): Promise<void> => {
  const names = ['statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout'];
  await sql`select set_config(name, '0', true) from pg_settings where name = any(${names}::text[])`.execute(trx);
};

/** Asks again and again, so that whoever waits can say so and can be ended. */
const takeLock = async ({ trx, options, tell }: Upgrade): Promise<void> => {
  const sinceMs = options.clock.now();
  for (;;) {
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(migrationLock)}) as taken`.execute(trx);
    if (rows[0]?.taken === true) return;
    // Whoever only looks whether there is something to do has it for a blink of an eye.
    if (options.clock.now() - sinceMs >= lookEveryMs) tell({ step: 'waiting', older: undefined });
    await options.clock.sleep(lockPauseMs, options.signal);
  }
};

const readVersion = async (trx: Transaction<Tables>): Promise<number> => {
  await sql`create table if not exists meta (key text primary key, value text not null)`.execute(trx);
  const row = await trx.selectFrom('meta').select('value').where('key', '=', 'schema_version').executeTakeFirst();
  return Number(row?.value ?? 0);
};

const named = (gateways: readonly LivingGateway[]): string => gateways.map(({ host, pid }) => `${host} (process ${pid})`).join(', ');

const stillThere = (from: number, gateways: readonly LivingGateway[]): StoreError =>
  new StoreError(
    'busy',
    `The database has to be upgraded for this version of hermes (schema ${from} to ${schemaVersion}), and gateways of the earlier version still work on it: ${named(gateways)}. Stop them with \`hermes gateway stop\`, each on its machine, and start again. One that died counts for another ${silentMs / 1000} seconds.`,
  );

/** They know nothing of the new tables, nor of what a newer gateway writes for all to take up. */
const awaitOlder = async ({ trx, now, options, tell }: Upgrade, from: number): Promise<void> => {
  const { clock, signal, olderMs = 0 } = options;
  const untilMs = clock.now() + olderMs;
  for (;;) {
    const gateways = await livingGateways({ engine: 'postgres', q: trx, now }, silentMs);
    if (gateways.length === 0) return;
    if (clock.now() >= untilMs) throw stillThere(from, gateways);
    tell({ step: 'waiting', older: named(gateways) });
    await clock.sleep(lookEveryMs, signal);
  }
};

const keepCopy = async (options: PostgresUpgradeOptions): Promise<void> => {
  const { copyFromPostgres } = await import('../copies/transfer.ts');
  // Under the lock nobody else copies this database.
  await keepUpgradeCopy({ database: 'The database', folder: options.backups, partial: '.partial-upgrade', make: (to, copying) => copyFromPostgres(options.url, to, copying) }, options);
};

const runSteps = async (trx: Transaction<Tables>, from: number): Promise<void> => {
  for (const step of pendingMigrations(from, 'postgres')) {
    for (const statement of step.statements) await sql.raw(statement).execute(trx);
    await trx
      .insertInto('meta')
      .values({ key: 'schema_version', value: String(step.version) })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: String(step.version) }))
      .execute();
  }
};

/** Brings the schema up to date, once, whoever else starts; before that, a database of an earlier version is left by its gateways and copied. All of it or nothing. */
export const migratePostgres = async (db: Kysely<Tables>, now: RawBuilder<number>, options: PostgresUpgradeOptions): Promise<void> => {
  const tell = newUpgradeTeller(options);
  await db.transaction().execute(async (trx) => {
    const upgrade = { trx, now, options, tell };
    await liftTimeLimits(trx);
    await takeLock(upgrade);
    const version = await readVersion(trx);
    if (version > schemaVersion) throw newerSchema('The database', version);
    if (version > 0 && version < schemaVersion) {
      await awaitOlder(upgrade, version);
      await keepCopy(options);
      tell({ step: 'upgrading', from: version, to: schemaVersion });
    }
    await runSteps(trx, version);
  });
};
