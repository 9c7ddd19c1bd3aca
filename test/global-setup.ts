import { noPostgresReason, startPostgres } from './support/postgres.ts';
import type { PostgresServer } from './support/postgres.ts';

let server: PostgresServer | undefined;

/** One PostgreSQL for the whole run; a server that the environment names is used as it is. */
export const globalSetup = async (): Promise<void> => {
  if (noPostgresReason !== undefined || process.env['HERMES_TEST_POSTGRES_URL'] !== undefined) return;
  server = await startPostgres();
  process.env['HERMES_TEST_POSTGRES_URL'] = server.url;
  process.env['HERMES_TEST_POSTGRES_OURS'] = 'yes';
};

export const globalTeardown = async (): Promise<void> => {
  await server?.stop();
};
