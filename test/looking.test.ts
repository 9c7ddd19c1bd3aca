import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { program } from '../src/cli/program.ts';
import { countDenial } from '../src/store/accounts/accounts.ts';
import { peek } from './support/scenes.ts';
import { openPiped } from './support/terminal.ts';
import { newWorld, until } from './support/whole.ts';

/** Whatever only looks, or only takes away what is there. */
const commands = [
  'status', 'status --json', 'gateway status', 'gateway list', 'gateway logs', 'gateway stop', 'logs', 'audit', 'doctor --offline', 'doctor --security --offline',
  'sessions list', 'sessions search word', 'sessions show s1', 'sessions delete s1 --yes', 'sessions prune --older-than 90d --yes', 'trace in_1', 'explain --platform web --chat 1 --user 1 hello',
  'pairing list', 'pairing revoke web 7', 'access list', 'access test --platform web --user 7', 'api keys list', 'api keys revoke program',
  'cron list', 'cron show job', 'cron runs', 'cron remove job', 'channels', 'agent list', 'agent show main', 'config show', 'config check', 'hooks list', 'mcp list', 'platform list', 'webhook list',
  'erase --person telegram:7 --yes',
];

/** What it prints and how it ends are for other tests. */
const run = async (line: string, env: Readonly<Record<string, string>>): Promise<void> => {
  const quiet = (): void => undefined;
  await program({ env, version: 'test', write: quiet, writeError: quiet })
    .parseAsync(['node', 'hermes', ...line.split(' ')])
    .catch((error: unknown) => assert.ok(error instanceof Error && ['ConfigError', 'Exit', 'JobRefused'].includes(error.name), `${line}: ${String(error)}`));
};

test('a command that only looks makes nothing, neither in a home in which nothing is yet nor where there is no home', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-looking-'));
  const missing = join(folder, 'missing');
  const empty = await mkdtemp(join(folder, 'empty-'));
  const env = (home: string): Readonly<Record<string, string>> => ({ HOME: folder, HERMES_HOME: home, XDG_STATE_HOME: join(folder, 'state') });
  try {
    for (const line of commands) {
      await run(line, env(empty));
      assert.deepEqual(await readdir(empty), [], `hermes ${line}`);
      await run(line, env(missing));
      assert.equal(existsSync(missing), false, `hermes ${line}`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('who watches the status of a home in which nothing is yet sees what appears there', async () => {
  await using world = await newWorld();
  await using watching = openPiped(world, ['status', '--watch', '--json']);
  await until(() => watching.out().includes('\n'), 'the first look');
  assert.match(watching.out(), /"denials":\[\]/);
  await peek(world, (store) => store.write((tx) => countDenial(tx, { account: 'telegram', userId: '4711', chatId: '4711', kind: 'message', reason: 'not listed' })));
  await until(() => watching.out().includes('4711'), 'a look that shows it');
});
