import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { ConfigError } from '../../core/errors.ts';
import { program } from '../program.ts';
import { sharedEnvironment } from './shell-variables.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-shell-'));
});
afterEach(() => rm(home, { recursive: true }));

const hermes = async (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<{ readonly out: string; readonly said: string }> => {
  let [out, said] = ['', ''];
  await program({ env: { HERMES_HOME: home, HOME: home, ...env }, version: '1.2.3', write: (text) => void (out += text), writeError: (text) => void (said += text) }).parseAsync(['node', 'hermes', ...args]);
  return { out, said };
};

const noService = { skip: !['linux', 'darwin'].includes(process.platform) && 'no service manager' };

test('a service is said not to see what only this shell says', noService, async () => {
  await writeFile(join(home, '.env'), 'TELEGRAM_BOT_TOKEN=4711:abcdefghijklmnopqrstuvwxyz\n', { mode: 0o600 });
  const { out, said } = await hermes({ OPENAI_API_KEY: 'sk-of-the-shell', TELEGRAM_BOT_TOKEN: '4711:abcdefghijklmnopqrstuvwxyz', HERMES_HTTP_PORT: '9999', EDITOR: 'vi' }, 'gateway', 'install', '--print');
  assert.match(said, /^The service does not see what only this shell says: HERMES_HTTP_PORT, OPENAI_API_KEY\. hermes config set keeps it/);
  assert.doesNotMatch(out + said, /sk-of-the-shell/);
  assert.equal((await hermes({}, 'gateway', 'install', '--print')).said, '');
});

test('no service is made that would open another database than the commands of this shell', noService, async () => {
  const env = { DATABASE_URL: 'postgres://shell/hermes' };
  await assert.rejects(hermes(env, 'gateway', 'install', '--print'), (error) => error instanceof ConfigError && /DATABASE_URL is set in this shell only.*hermes config set store\.database_url "\$DATABASE_URL"$/.test(error.message));
  await writeFile(join(home, '.env'), 'DATABASE_URL=postgres://kept/hermes\n', { mode: 0o600 });
  assert.equal((await hermes(env, 'gateway', 'install', '--print')).said, '');
});

test('gateways in several homes get neither a bot nor a place out of this shell, but keys of models', async () => {
  const given = { TELEGRAM_BOT_TOKEN: 'x', DATABASE_URL: 'x', HERMES_HTTP_PORT: '1', OPENAI_API_KEY: 'x', OPENAI_BASE_URL: 'x', PATH: '/bin' };
  assert.deepEqual(sharedEnvironment(given), { env: { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: 'x', PATH: '/bin' }, leftOut: ['DATABASE_URL', 'HERMES_HTTP_PORT', 'TELEGRAM_BOT_TOKEN'] });
  const { said } = await hermes({ ...given, XDG_STATE_HOME: join(home, 'state') }, 'gateway', 'start', '--all');
  assert.match(said, /^Not given to any of them, because it is for one gateway: DATABASE_URL, HERMES_HTTP_PORT, TELEGRAM_BOT_TOKEN\./);
});
