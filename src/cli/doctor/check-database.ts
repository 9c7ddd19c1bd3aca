import { StoreError } from '../../core/errors.ts';
import type { Examination } from './examination.ts';
import { broken, ok, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const fixes: Readonly<Partial<Record<StoreError['code'], string>>> = {
  corrupt: 'Stop every hermes process, keep a copy of the file, and restore a backup',
  unwritable: 'Check the owner and the permissions of the file and its folder',
  unavailable: 'Check DATABASE_URL and that the server runs',
  busy: 'Another process holds the database; try again',
};

/** Whether the store can be opened, is whole, and has a version that this program knows. */
export const checkDatabase = async ({ database, config }: Examination): Promise<readonly Finding[]> => {
  if (database === undefined) return [skipped('There is no database yet; the first start makes it')];
  if (database instanceof StoreError) return [broken(database.message, fixes[database.code] ?? 'hermes gateway run says more')];
  const engine = config?.sections.store.database_url === undefined ? 'SQLite' : 'PostgreSQL';
  if (database.version > database.expected) return [broken(`The database was written by a newer version (schema ${database.version}, this one knows ${database.expected})`, 'Install the newer version, or go back with hermes restore backups/gateway-schema-….db, the copy made before the upgrade')];
  const damage = database.damage();
  if (damage !== undefined) return [broken(`The database is damaged (${damage})`, 'Stop every hermes process, keep a copy of the file, and restore a backup')];
  if (database.version < database.expected) return [warning(`The database is of an older version (schema ${database.version}, this one knows ${database.expected})`, 'The next start copies it into backups and brings it up to date')];
  return [ok(`${engine}, schema ${database.version}, undamaged`)];
};
