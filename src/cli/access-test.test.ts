import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryHome } from '../config/sample-config.ts';
import { silentLogger } from '../lib/logger.ts';
import { systemClock } from '../lib/clock.ts';
import { openStore } from '../store/open.ts';
import { pair } from '../store/accounts/pairing.ts';
import { Exit } from './environment.ts';
import { program } from './program.ts';
import { storePath } from './home/open-home.ts';

interface Tested {
  readonly allowed: boolean;
  readonly by: string;
  readonly role: string | null;
  readonly mayLetOthersIn: boolean;
  readonly commands: readonly string[];
  readonly refusedCommands: readonly string[];
  readonly decisions: readonly { readonly step: string; readonly verdict: string }[];
}

const run = async (home: string, ...args: readonly string[]): Promise<{ readonly out: string; readonly code: number }> => {
  let out = '';
  let code = 0;
  const terminal = { env: { HERMES_HOME: home }, version: 'test', write: (text: string) => void (out += text), writeError: () => undefined };
  await program(terminal)
    .parseAsync(['node', 'hermes', 'access', 'test', '--platform', 'telegram', ...args])
    .catch((error: unknown) => {
      if (!(error instanceof Exit)) throw error;
      code = error.code;
    });
  return { out, code };
};

const config = `
platforms:
  telegram:
    token: "123456:abc"
    allowed_users: [7, 8]
    allow_admin_from: [7]
    user_allowed_commands: [status]
    group_allowed_chats: [-100]
`;

test('says who is let in, as what, and which commands they may run', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', config);
  const read = async (...args: readonly string[]): Promise<Tested & { readonly code: number }> => {
    const { out, code } = await run(home.path, '--json', ...args);
    return { ...(JSON.parse(out) as Tested), code };
  };
  const admin = await read('--user', '7');
  assert.deepEqual([admin.code, admin.allowed, admin.by, admin.role, admin.mayLetOthersIn, admin.refusedCommands], [0, true, 'allowed_users of the account', 'admin', true, []]);
  const user = await read('--user', '8');
  assert.deepEqual([user.code, user.role, user.mayLetOthersIn], [0, 'user', false]);
  assert.ok(user.commands.includes('status') && user.commands.includes('help') && user.refusedCommands.includes('new'));
  const stranger = await read('--user', '9', '--name', '7');
  assert.deepEqual([stranger.code, stranger.allowed, stranger.role, stranger.commands], [1, false, null, []]);
  assert.deepEqual(stranger.decisions.at(-1), { step: 'default', verdict: 'denied' });
  const inGroup = await read('--user', '9', '--chat', '-100', '--type', 'group');
  assert.deepEqual([inGroup.code, inGroup.by], [0, 'group_allowed_chats of the account']);
});

test('knows who was let in by a code, and says it in words', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', config);
  const denied = await run(home.path, '--user', '9', '--name', 'Ada');
  assert.match(denied.out, /default +denied\n\nTurned away: Ada, id 9, in a direct chat on telegram\.\nTo let them in: hermes access allow telegram 9\n$/);
  const store = await openStore({ path: storePath(home.path), clock: systemClock, log: silentLogger, checkIntegrity: false });
  await store.write((tx) => pair(tx, { account: 'telegram', userId: '9', userName: null, approvedBy: 'cli' }));
  await store.close();
  const allowed = await run(home.path, '--user', '9');
  assert.match(allowed.out, /pairing +allowed\n\nLet in: id 9, [^]*May run +.*\/status[^]*May not run +.*\/new/);
  assert.deepEqual([denied.code, allowed.code], [1, 0]);
});
