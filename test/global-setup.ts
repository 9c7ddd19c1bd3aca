import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noPostgresReason, startPostgres } from './support/postgres.ts';
import type { PostgresServer } from './support/postgres.ts';

let server: PostgresServer | undefined;

/** One PostgreSQL for the whole run; a server that the environment names is used as it is. */
export const globalSetup = async (): Promise<void> => {
  // What gateways keep outside their homes is not left in the folders of whoever runs the tests.
  const state = mkdtempSync(join(tmpdir(), 'hermes-test-state-'));
  // A run that is called off does not come to the teardown.
  process.once('exit', () => rmSync(state, { recursive: true, force: true }));
  process.env['XDG_STATE_HOME'] = state;
  if (noPostgresReason !== undefined || process.env['HERMES_TEST_POSTGRES_URL'] !== undefined) return;
  server = await startPostgres();
  process.env['HERMES_TEST_POSTGRES_URL'] = server.url;
  process.env['HERMES_TEST_POSTGRES_OURS'] = 'yes';
};

export const globalTeardown = async (): Promise<void> => {
  await server?.stop();
};
